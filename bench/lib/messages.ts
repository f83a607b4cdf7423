/** Deterministic mail for load: four of five are text, one has a small attachment, like a mailbox of a small team. */
export function message(n: number, octets: number, run: string): Buffer {
  const random = numbers(n + 1);
  const from = `${word(random)}.${word(random)}@${word(random)}.example`;
  const head = [
    `Received: from mx.${word(random)}.example (mx.example [192.0.2.7]) by relay.example with ESMTPS id ${n}${run}`,
    `From: "${word(random)} ${word(random)}" <${from}>`,
    'To: "User" <user@bench.test>',
    `Subject: ${words(random, 4)}`,
    'Date: Thu, 01 Jan 2026 12:00:00 +0000',
    `Message-ID: <${n}.${run}@bench.example>`,
    `References: <${Math.max(0, n - 1)}.${run}@bench.example>`,
    'MIME-Version: 1.0',
  ];
  const room = Math.max(200, octets - head.join('\r\n').length - 200);
  const body = n % 5 === 3 ? withAttachment(random, room, n) : plainText(random, room);
  return Buffer.from(`${[...head, ...body].join('\r\n')}\r\n`, 'latin1');
}

function plainText(random: () => number, octets: number): string[] {
  return ['Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 7bit', '', ...text(random, octets)];
}

function withAttachment(random: () => number, octets: number, n: number): string[] {
  const boundary = `=_b${n}`;
  const bytes = Buffer.from(Array.from({ length: Math.floor(octets * 0.25) }, () => random() * 256));
  return [
    `Content-Type: multipart/mixed; boundary="${boundary}"`,
    '',
    `--${boundary}`,
    ...plainText(random, octets * 0.5),
    `--${boundary}`,
    `Content-Type: application/octet-stream; name="f${n}.bin"`,
    'Content-Transfer-Encoding: base64',
    `Content-Disposition: attachment; filename="f${n}.bin"`,
    '',
    ...(bytes.toString('base64').match(/.{1,76}/g) ?? []),
    `--${boundary}--`,
  ];
}

function text(random: () => number, octets: number): string[] {
  const lines: string[] = [];
  for (let size = 0; size < octets; size += 74) lines.push(words(random, 12).slice(0, 72));
  return lines;
}

const words = (random: () => number, count: number): string =>
  Array.from({ length: count }, () => word(random)).join(' ');

function word(random: () => number): string {
  const consonants = 'bcdfghjklmnprstvw';
  const vowels = 'aeiou';
  let out = '';
  for (let i = 0; i <= 1 + random() * 2; i++) {
    out += (consonants[Math.floor(random() * 17)] ?? '') + (vowels[Math.floor(random() * 5)] ?? '');
  }
  return out;
}

/** Xorshift: the same numbers for the same seed, on every machine. */
function numbers(seed: number): () => number {
  let x = (Math.imul(seed, 2654435761) + 0x9e3779b9) >>> 0 || 1;
  return () => {
    x ^= x << 13;
    x >>>= 0;
    x ^= x >>> 17;
    x ^= x << 5;
    x >>>= 0;
    return x / 4294967296;
  };
}
