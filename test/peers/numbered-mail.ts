import type { Box } from '../support/box.ts';
import { flow } from './flow.ts';

const CONNECTIONS = 8;

/** A message that is known by its number, with LF line ends as in a Maildir. */
export function numberedMail(number: number, to: string): string {
  return [
    `From: Sender ${number % 17} <sender-${number % 17}@example.org>`,
    `To: ${to}`,
    `Subject: number ${number}`,
    `Date: Mon, 2 Nov 2026 10:${String(number % 60).padStart(2, '0')}:00 +0000`,
    `Message-ID: <${number}@numbered.example.org>`,
    '',
    ...Array.from({ length: 1 + (number % 40) }, (_, line) => `line ${line} of ${number}`),
    '',
  ].join('\n');
}

/** Its number by its Message-ID. */
export function numberOf(message: string): number {
  return Number(/^Message-ID: <(\d+)@numbered/im.exec(message)?.[1] ?? Number.NaN);
}

/** Appends the messages `from` to `to - 1`, over several connections; `fields` are put above their own. */
export async function appendNumbered(box: Box, mailbox: string, from: number, to: number, fields = ''): Promise<void> {
  let number = from;
  const some = async (): Promise<void> => {
    await using client = await flow(box);
    for (let mine = number++; mine < to; mine = number++) {
      const mail = `${fields}${numberedMail(mine, box.address)}`;
      await client.append(mailbox, mail.replaceAll('\n', '\r\n'), ['\\Seen']);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, some));
}

/** Numbers and flags of all messages of a mailbox on the server, by number; counts doubled ones. */
export async function numbersOnServer(
  box: Box,
  mailbox = 'INBOX',
): Promise<{ flags: Map<number, string>; messages: number }> {
  await using client = await flow(box);
  const lock = await client.getMailboxLock(mailbox);
  try {
    const flags = new Map<number, string>();
    let messages = 0;
    if (client.mailbox === false || client.mailbox.exists === 0) return { flags, messages };
    for await (const { envelope, flags: names } of client.fetch('1:*', { envelope: true, flags: true })) {
      messages += 1;
      flags.set(numberOf(`Message-ID: ${envelope?.messageId ?? ''}`), maildirFlags(names ?? new Set()));
    }
    return { flags, messages };
  } finally {
    lock.release();
  }
}

const LETTERS: Readonly<Record<string, string>> = {
  '\\Draft': 'D',
  '\\Flagged': 'F',
  '\\Answered': 'R',
  '\\Seen': 'S',
  '\\Deleted': 'T',
};

/** Flags as the letters of a Maildir, in their order. */
function maildirFlags(names: ReadonlySet<string>): string {
  return [...names]
    .map((name) => LETTERS[name] ?? '')
    .toSorted()
    .join('');
}
