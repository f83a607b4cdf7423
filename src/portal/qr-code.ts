import { encode } from 'uqr';
import { Html } from './html.ts';

/** Light modules around the code. ISO/IEC 18004 9.1. */
const QUIET_ZONE = 4;

/** A QR code as an image in the page: nobody else learns the text. */
export function qrCode(text: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: QUIET_ZONE });
  const path = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  const box = `0 0 ${size} ${size}`;
  const open = `<svg class="qr" role="img" aria-label="QR code" viewBox="${box}" width="240" height="240">`;
  return new Html(`${open}<rect width="${size}" height="${size}" fill="#fff"/><path d="${path}" fill="#000"/></svg>`);
}
