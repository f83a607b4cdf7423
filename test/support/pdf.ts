import { deflateSync } from 'node:zlib';

/** A small PDF with these lines, one a page; `stream` puts other octets in the place of the first page's drawing. */
export function pdf(lines: readonly string[], stream?: { data: Buffer; filter: string }): Buffer {
  const pages = lines.map((_, i) => 4 + 2 * i);
  const objects: (string | Buffer)[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${lines.length} /Kids [${pages.map((one) => `${one} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  for (const [i, line] of lines.entries()) {
    const own = stream !== undefined && i === 0;
    const data = own ? stream.data : deflateSync(`BT /F1 12 Tf 72 700 Td (${line}) Tj ET`);
    const filter = own ? stream.filter : '/FlateDecode';
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * i} 0 R >>`,
      Buffer.concat([
        Buffer.from(`<< /Length ${data.length} /Filter ${filter} >>\nstream\n`),
        data,
        Buffer.from('\nendstream'),
      ]),
    );
  }
  return pdfOf(objects);
}

/** A PDF of these objects, the first of which is its catalog. */
export function pdfOf(objects: readonly (string | Buffer)[]): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  const positions: number[] = [];
  let at = parts[0]?.length ?? 0;
  for (const [i, object] of objects.entries()) {
    const whole = Buffer.concat([Buffer.from(`${i + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n')]);
    positions.push(at);
    parts.push(whole);
    at += whole.length;
  }
  const rows = positions.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`);
  parts.push(
    Buffer.from(
      `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows.join('')}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${at}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

/** A PDF of few octets whose drawing never ends: each of its forms draws the next one twelve times. */
export function endlessPdf(): Buffer {
  const forms = Array.from({ length: 12 }, (_, n) => {
    const [next, drawing] = n === 11 ? ['', '0 0 m 1 1 l S'] : [`/F ${6 + n} 0 R`, '/F Do '.repeat(12)];
    return `<< /Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /XObject << ${next} >> >> /Length ${drawing.length} >>\nstream\n${drawing}\nendstream`;
  });
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /XObject << /F 5 0 R >> >> /Contents 4 0 R >>',
    '<< /Length 5 >>\nstream\n/F Do\nendstream',
    ...forms,
  ]);
}
