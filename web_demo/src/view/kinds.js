/** What a bundle's models are for and what they take, in words. */

const COLOURS = { 1: "grey", 3: "colour" };

/** Such as "detection; they take pictures of 320 × 320 pixels, colour". */
export function kindOf({ task, models }) {
  const { shape } = models[0].input;
  const [height, width, channels] = shape.slice(-3);
  const taken = isClip(shape) ? `clips of ${shape[1]} frames` : "pictures";
  return `${task.name.replaceAll("_", " ")}; they take ${taken} of ${width} × ${height} pixels, ${COLOURS[channels]}`;
}

/** Why the models say nothing of a picture; null where they do. */
export function whyNoPictures({ task, detection, models }) {
  const { shape } = models[0].input;
  if (isClip(shape)) {
    return `These models take clips of ${shape[1]} frames: they say nothing of a single picture.`;
  }
  if (task.name !== "classification" && !detection) {
    return `What these models say of a picture is not shown: their task is ${task.name.replaceAll("_", " ")}.`;
  }
  return null;
}

function isClip(shape) {
  return shape.length === 5;
}
