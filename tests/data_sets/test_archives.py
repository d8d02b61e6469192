"""Class folders in zip and tar files, read in place."""

import concurrent.futures
import os
import pickle
import shutil
import subprocess
import sys
import tarfile
import zipfile

import numpy as np
import pytest

from data_sets import load_dataset
from tests.data_sets.making import write_class_folder, write_image


@pytest.fixture
def pets(tmp_path):
    """train/{cat, dog} and test/{cat, dog}, each image of a grey of its own."""
    folder, value = tmp_path / "pets", 0
    for part, counts in (("train", (3, 2)), ("test", (1, 1))):
        for name, count in zip(("cat", "dog"), counts, strict=True):
            for number in range(count):
                value += 20
                write_image(folder / part / name / f"{number}.png", np.full((8, 8), value, np.uint8))
    return folder


def pack(folder, kind, compression=zipfile.ZIP_DEFLATED, inside="pets"):
    """Writes an archive beside the folder, whose content is in the archive's folder `inside`."""
    path = folder.parent / f"packed.{kind}"
    files = sorted(folder.rglob("*"))
    if kind == "zip":
        with zipfile.ZipFile(path, "w", compression) as archive:
            for file in files:
                archive.write(file, os.path.join(inside, file.relative_to(folder)))
    else:
        with tarfile.open(path, {"tar": "w:"}.get(kind, f"w:{kind.rpartition('.')[2]}")) as archive:
            for file in files:
                archive.add(file, os.path.join(inside, file.relative_to(folder)), recursive=False)
    return path


def greys(dataset):
    return [int(element["image"][0, 0, 0]) for element in dataset]


KINDS = [
    ("zip", zipfile.ZIP_STORED, "pets"),
    ("zip", zipfile.ZIP_DEFLATED, ""),
    ("zip", zipfile.ZIP_DEFLATED, "all/pets"),
    ("tar", None, "pets"),
    ("tar", None, "."),
]


@pytest.mark.parametrize(("kind", "compression", "inside"), KINDS)
def test_archive_gives_what_its_folder_gives(pets, kind, compression, inside):
    archive = pack(pets, kind, compression, inside)
    for split in ("train", "test"):
        expected, dataset = (load_dataset("folder", split, place) for place in (pets, archive))
        assert dataset.class_names == expected.class_names
        assert dataset.labels.tolist() == expected.labels.tolist()
        assert greys(dataset) == greys(expected)
        assert str(dataset.images.paths[0]).endswith(
            f"packed.{kind}/{inside}/{split}/cat/0.png".replace("/./", "/").replace("//", "/")
        )


def test_hashed_parts_are_those_of_the_folder(tmp_path):
    for name in ("circle", "square"):
        write_class_folder(tmp_path / "shapes" / name, 9)
    archive = pack(tmp_path / "shapes", "tar")
    for split in ("train", "test"):
        folder, packed = (load_dataset("folder", split, place) for place in (tmp_path / "shapes", archive))
        assert [os.path.basename(str(path)) for path in packed.images.paths] == [
            os.path.basename(path) for path in folder.images.paths
        ]


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_access_is_random_in_threads_and_in_other_processes(pets, kind):
    dataset = load_dataset("folder", "train", pack(pets, kind))
    order = np.random.default_rng(0).integers(0, 5, 200)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        read = list(pool.map(lambda index: int(dataset[index]["image"][0, 0, 0]), order))
    assert read == [20 * (index + 1) for index in order]
    program = "import pickle, sys; print(pickle.load(sys.stdin.buffer)[3]['image'][0, 0, 0])"
    done = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(dataset), capture_output=True)
    assert done.stdout.split() == [b"80"], done.stderr


@pytest.mark.parametrize("kind", ["tar.gz", "tar.bz2", "tar.xz"])
def test_compressed_tar_is_refused(pets, kind):
    archive = pack(pets, kind)
    with pytest.raises(
        ValueError, match=f"{archive} is compressed as a whole, .*: unpack it, or make an unc"
    ):
        load_dataset("folder", "train", archive)


def test_validation_part_in_an_archive(pets):
    shutil.copytree(pets / "test", pets / "val")
    from data_sets import load_validation

    assert greys(load_validation("folder", pack(pets, "zip"))) == [120, 140]


def test_what_systems_add_is_left_out(pets):
    for name in ("__MACOSX/train/cat/._0.png", "pets/train/.DS_Store", "pets/train/cat/.hidden.png"):
        (pets.parent / "whole" / name).parent.mkdir(parents=True, exist_ok=True)
        (pets.parent / "whole" / name).write_bytes(b"no image")
    shutil.copytree(pets, pets.parent / "whole/pets", dirs_exist_ok=True)
    archive = pack(pets.parent / "whole", "zip", inside="")
    assert greys(load_dataset("folder", "train", archive)) == [20, 40, 60, 80, 100]


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_empty_class_is_named(pets, kind):
    (pets / "train" / "bird").mkdir()
    (pets / "test" / "bird").mkdir()
    with pytest.raises(ValueError, match=f"packed.{kind}/pets/train/bird holds no images"):
        load_dataset("folder", "train", pack(pets, kind))


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_unicode_names(pets, kind):
    for part in ("train", "test"):
        (pets / part / "dog").rename(pets / part / "собака 犬")
    dataset = load_dataset("folder", "train", pack(pets, kind))
    assert dataset.class_names == ("cat", "собака 犬")
    assert greys(dataset) == [20, 40, 60, 80, 100]


def test_zip_whose_encoding_is_not_said_is_utf8(pets):
    for part in ("train", "test"):
        (pets / part / "dog").rename(pets / part / "hündin")
    archive = pack(pets, "zip")
    content = bytearray(archive.read_bytes())
    for mark, place in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        start = -1
        while (start := content.find(mark, start + 1)) >= 0:
            content[start + place + 1] &= ~0x08  # the flag of names in UTF-8
    archive.write_bytes(content)
    assert load_dataset("folder", "train", archive).class_names == ("cat", "hündin")


def test_name_that_is_not_utf8_is_named(pets):
    (pets / "train" / "cat" / os.fsdecode(b"caf\xe9.png")).write_bytes(b"")
    for place in (pets, pack(pets, "tar")):
        with pytest.raises(ValueError, match=r"cat holds b'caf\\xe9.png', a name that is not UTF-8"):
            load_dataset("folder", "train", place)


def test_encrypted_and_strangely_compressed_zips_are_refused(pets):
    archive = pack(pets, "zip", zipfile.ZIP_LZMA)
    with pytest.raises(ValueError, match=r"pets/test/cat/0.png is compressed by method 14, expected stored"):
        load_dataset("folder", "train", archive)
    content = bytearray(pack(pets, "zip").read_bytes())
    start = content.find(b"PK\1\2", content.find(b"0.png", content.find(b"PK\1\2")) - 60)
    content[start + 8] |= 1
    archive.write_bytes(content)
    with pytest.raises(ValueError, match=r"is encrypted: unpack the archive"):
        load_dataset("folder", "train", archive)


def test_links_in_a_tar(pets):
    os.link(pets / "train/cat/0.png", pets / "train/cat/hard.png")
    assert greys(load_dataset("folder", "train", pack(pets, "tar"))) == [20, 40, 60, 20, 80, 100]
    (pets / "train/cat/soft.png").symlink_to("0.png")
    with pytest.raises(ValueError, match=r"cat/soft.png is a link or of another kind .* tar --dereference"):
        load_dataset("folder", "train", pack(pets, "tar"))


@pytest.mark.parametrize(
    "damage",
    [lambda content: content[: len(content) // 2], lambda content: b"no archive", lambda content: b""],
)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_damaged_archive_is_named(pets, kind, damage):
    archive = pack(pets, kind)
    archive.write_bytes(damage(archive.read_bytes()))
    with pytest.raises(
        ValueError, match=f"{archive} is neither a .zip nor a .tar of a folder, or is damaged"
    ):
        load_dataset("folder", "train", archive)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_damaged_member_of_a_zip_is_named(pets, compression):
    archive = pack(pets, "zip", compression)
    content = bytearray(archive.read_bytes())
    content[content.find(b"dog/0.png", content.find(b"train/dog")) + 40] ^= 0xFF
    archive.write_bytes(content)
    dataset = load_dataset("folder", "train", archive)
    assert len([dataset[index] for index in (0, 1, 2, 4)]) == 4
    with pytest.raises(OSError, match=r"cannot read the image .*packed.zip/pets/train/dog/0.png: "):
        dataset[3]


def test_archive_that_changed_is_read_anew(pets):
    archive = pack(pets, "zip")
    assert len(load_dataset("folder", "train", archive)) == 5
    write_image(pets / "train" / "cat" / "9.png", np.full((8, 8), 7, np.uint8))
    assert len(load_dataset("folder", "train", pack(pets, "zip"))) == 6


def test_other_sets_are_not_read_from_archives(pets):
    with pytest.raises(OSError, match=r"packed.zip' is a file: give the folder that holds it"):
        load_dataset("imagenet", "train", pack(pets, "zip"))
