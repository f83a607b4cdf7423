import { sha256 } from './load.ts';
import { MailboxReader } from './mailbox-reader.ts';

/** A folder as an IMAP client sees it: UIDVALIDITY, and each message with its flags, INTERNALDATE and SHA-256 by UID. */
export interface FolderFacts {
  uidValidity: string;
  uidNext: string;
  messages: Record<string, { flags: string; date: string; sha256: string }>;
}

const MESSAGE = /\* \d+ FETCH \((?=[^\r\n]*BODY\[\] \{(\d+)\}\r\n)([^\r\n]*)\r\n/g;

/** Reads every folder of an account over IMAP. */
export async function readAccount(port: number): Promise<Record<string, FolderFacts>> {
  using reader = await MailboxReader.open(port);
  const say = async (command: string): Promise<string> => (await reader.command(command)).toString('latin1');
  const folders = [...(await say('LIST "" *')).matchAll(/^\* LIST \([^)]*\) \S+ (.*)\r$/gm)].map(
    ([, name = '']) => name,
  );
  const facts: Record<string, FolderFacts> = {};
  for (const folder of folders.toSorted()) {
    const status = await say(`EXAMINE ${folder}`);
    const [, uidValidity = ''] = /\[UIDVALIDITY (\d+)\]/.exec(status) ?? [];
    const [, uidNext = ''] = /\[UIDNEXT (\d+)\]/.exec(status) ?? [];
    const fetched = / 0 EXISTS/.test(status) ? '' : await say('FETCH 1:* (UID FLAGS INTERNALDATE BODY.PEEK[])');
    facts[folder] = { uidValidity, uidNext, messages: messagesIn(fetched) };
  }
  return facts;
}

function messagesIn(fetched: string): FolderFacts['messages'] {
  const messages: FolderFacts['messages'] = {};
  for (const { 0: head, 1: octets, 2: items = '', index } of fetched.matchAll(MESSAGE)) {
    const body = fetched.slice(index + head.length, index + head.length + Number(octets));
    const [, uid = ''] = /UID (\d+)/.exec(items) ?? [];
    const [, flags = ''] = /FLAGS \(([^)]*)\)/.exec(items) ?? [];
    const [, date = ''] = /INTERNALDATE "([^"]*)"/.exec(items) ?? [];
    const kept = flags.split(' ').filter((flag) => flag !== '\\Recent');
    messages[uid] = { flags: kept.toSorted().join(' '), date, sha256: sha256(Buffer.from(body, 'latin1')) };
  }
  return messages;
}
