"""A folder in Pascal's or COCO's format, given as --data_dir: a small detector for images of your own.

python -m training.train --config=training/configs/detection_folder.py --data_dir=DIR --workdir=RUN
... --config.data=coco --config.model=retinanet_resnet18 --config.model_arguments="{}"
"""

from training.configs import hsvit_base

SIDE = 320


def get_config():
    config = hsvit_base.get_config()
    config.model = "yolo_v8_xs"
    config.model_arguments = {"resizing": {"filter": "bilinear", "size": (SIDE, SIDE)}}
    config.data = "voc"
    config.image_shape = (SIDE, SIDE, 3)
    config.mean = (0.485, 0.456, 0.406)
    config.std = (0.229, 0.224, 0.225)
    config.augmentation = (
        ("RandomPartOrWhole", {"chance": 0.5, "scales": (0.6, 1.0)}),
        ("RandomFlip", {"mode": "horizontal"}),
    )
    config.batch_size = 16
    config.epochs = 100
    config.learning_rate = 1e-3
    config.warmup_epochs = 3
    config.weight_decay = 1e-4
    config.update({"epsilon": 1e-7, "schedule": "cosine", "clip_norm": 10.0, "ema_momentum": 0.999})
    return config
