/** A host of 253 characters, different for each number. */
export const longHost = (n: number): string =>
  `${`${n}-`.padEnd(60, 'h')}.${'i'.repeat(60)}.${'j'.repeat(60)}.${'k'.repeat(60)}.ab`;
/** An address of 318 characters. */
export const longAddress = (n: number): string => `${`${n}`.padEnd(64, 'm')}@${longHost(n)}`;

const numbered = (count: number, of: (n: number) => string): string[] => Array.from({ length: count }, (_, i) => of(i));
const SIGNS = '"\\';

/** Header with the maximum of everything that a sender controls. */
export function hostileHeader(n = 0, recipients = 200): string {
  return [
    `From: "${'\\"'.repeat(500)}" <${longAddress(n)}>`,
    `To: ${numbered(recipients, longAddress).join(',\n ')}`,
    `Cc: ${numbered(recipients, (i) => longAddress(i + recipients)).join(',\n ')}`,
    `Reply-To: ${numbered(recipients, longAddress).join(',\n ')}`,
    `Message-ID: <${n}-${'x'.repeat(200)}@x.example>`,
    `References: ${numbered(500, (i) => `<${i === 0 ? 'root' : `${n}-${i}`}@x.example>`).join('\n ')}`,
    `In-Reply-To: <root@x.example>`,
    `List-Id: ${SIGNS.repeat(450)}`,
    `Subject: ${SIGNS.repeat(450)}`,
    'MIME-Version: 1.0',
  ].join('\n');
}

/** Lines and characters that grow in a JSON response, and links. */
export const hostileText = (links: number): string =>
  `${numbered(links, (i) => `http://${longHost(i)}/`).join('\n')}\n${`${SIGNS}\n`.repeat(25_000)}`;

export function hostileMail(n = 0): string {
  const files = numbered(
    500,
    (i) =>
      `--b\nContent-Type: application/${'t'.repeat(100)}\nContent-Disposition: attachment; filename="${i}${'"\\'.replaceAll(/./g, '\\$&').repeat(125)}"\n\nx\n`,
  );
  const text = `--b\nContent-Type: text/plain; charset=utf-8\n\n${hostileText(500)}\n`;
  const file = `--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename=a.txt\n\n${hostileText(0)}\n`;
  return `${hostileHeader(n)}\nContent-Type: multipart/mixed; boundary=b\n\n${text}${file}${files.join('')}--b--\n`;
}

/** Fewer recipients, text only. */
export const hostileLetter = (n: number): string =>
  `${hostileHeader(n, 30)}\nContent-Type: text/plain; charset=utf-8\n\n${`${SIGNS}\n`.repeat(2_000)}\n`;

/** Message with nearly all text hidden. */
export const hidingLetter = (n: number): string =>
  `${hostileHeader(n, 10)}\nContent-Type: text/html; charset=utf-8\n\n<p style="display:none">${'hidden '.repeat(1_000)}</p>x\n`;
