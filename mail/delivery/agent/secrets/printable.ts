/** What could be read of octets: without zeros they may have been UTF-16. */
export function printable(octets: Buffer): string {
  const text = octets.toString('latin1').replaceAll('\0', '');
  return (text.match(/[\t\n\r\x20-\x7e]{4,}/g) ?? []).join('\n');
}
