"""Whether a model reads texts or images, as its configuration says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

VISION = frozenset(
    {
        *("vit", "vit_mae", "vit_msn", "deit", "beit", "data2vec-vision", "levit", "cvt", "pvt"),
        *("dinov2", "dinov2_with_registers", "dinov3_vit", "dinov3_convnext", "ijepa", "hiera"),
        *("clip", "clip_vision_model", "siglip", "siglip_vision_model", "siglip2"),
        *("siglip2_vision_model", "chinese_clip", "chinese_clip_vision_model", "altclip"),
        *("resnet", "regnet", "convnext", "convnextv2", "efficientnet", "bit", "poolformer"),
        *("swin", "swinv2", "swiftformer", "focalnet", "van", "dinat", "pvt_v2", "segformer"),
        *("mobilenet_v1", "mobilenet_v2", "mobilevit", "mobilevitv2", "timm_wrapper"),
    }
)
"""Types of models that read images, alone or beside texts."""

_PROCESSORS = ("preprocessor_config.json", "processor_config.json")
_OF_IMAGES = ("image_processor_type", "image_processor", "image_mean")
_VOCABULARIES = (
    *("tokenizer*", "vocab*", "merges.txt", "bpe.codes", "*.model", "*.spm", "*.tiktoken"),
    *("tekken.json", "spiece.*"),
)


def reads_images(folder: Path, config: Mapping[str, Any]) -> bool:
    """Tell whether the model in a folder reads images.

    It does if its type is one of `VISION`, or if there is an image processor and no tokenizer.
    """
    if config.get("model_type") in VISION:
        return True
    return has_image_processor(folder) and not has_tokenizer(folder)


def has_tokenizer(folder: Path) -> bool:
    """Tell whether there is any file of a tokenizer."""
    return any(any(folder.glob(pattern)) for pattern in _VOCABULARIES)


def has_image_processor(folder: Path) -> bool:
    """Tell whether there is the description of how images are to be brought to the model."""
    from calipers.embed.models.sentence_transformer_files import read_settings

    return any(key in read_settings(folder, name) for name in _PROCESSORS for key in _OF_IMAGES)
