package org.hsvit.benchmark.measure;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.util.List;
import org.junit.Test;

public class CoresTest {
  @Test
  public void coresAreWrittenAsLinuxDoes() {
    assertEquals(List.of(0, 1, 2, 3, 7), Cores.parse("0-3,7"));
    assertEquals(List.of(4), Cores.parse(" 4\n"));
    assertEquals(List.of(1, 2, 3), Cores.parse("3,1-2, 2"));
    assertEquals("0-3,7", Cores.text(List.of(0, 1, 2, 3, 7)));
    assertEquals("4", Cores.text(List.of(4)));
    assertEquals("0,2,4-5", Cores.text(List.of(0, 2, 4, 5)));
  }

  @Test
  public void otherTextsAreRefused() {
    for (String wrong : List.of("", "big", "3-1", "-1", "1-2-3", "64", "1,", "0x3")) {
      String message =
          assertThrows(IllegalArgumentException.class, () -> Cores.parse(wrong)).getMessage();
      assertEquals("cores=" + wrong + " must be numbers from 0 to 63 such as 0-3,7", message);
    }
  }
}
