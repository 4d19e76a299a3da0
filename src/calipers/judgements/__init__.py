"""Judgements of samples: what raters are asked, which items they are shown, what they answered."""
