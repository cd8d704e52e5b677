"""Many replies: asked at once, kept, repeated where a reply does not parse."""
