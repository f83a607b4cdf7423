/** Validates a media type for use in a header; undefined if invalid. Content is never sniffed. */
export function mediaType(text: string): string | undefined {
  return /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}(?:[\t ]*;[\t\x20-\x7e]{0,200})?$/.test(text) ? text : undefined;
}
