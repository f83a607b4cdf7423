import { showQueue, showStatus, showTrace } from './mail-answers.ts';
import { bytes, table } from './table.ts';
import { asks, type Given, none, one, type Verb } from './verb.ts';

interface Secret {
  address: string;
  password: string;
}

function ids(args: readonly string[]): object | undefined {
  if (args.length === 1 && args[0] === 'all') return { ids: 'all' };
  const numbers = args.map(Number);
  return numbers.length > 0 && numbers.every((id) => Number.isInteger(id) && id > 0) ? { ids: numbers } : undefined;
}

function address(args: readonly string[], given: Given): object | undefined {
  if (args.length !== 1) return undefined;
  // Not as an argument: every user of the machine sees those.
  const password = given['password-stdin'] === true ? given.stdin().replace(/\r?\n$/, '') : undefined;
  return { address: args[0], ...(password !== undefined && { password }) };
}

const secret = ({ address: to, password }: Secret): string => `${to}\npassword  ${password}   (shown once)`;
const changed = ({ changed: n }: { changed: number }): string => `${n} changed`;

/** What runs, domains, mailboxes and the queue, of the whole box. */
export const MAIL_VERBS: readonly Verb[] = [
  {
    words: 'status',
    usage: '',
    about: 'What runs, since when, and what waits',
    ask: asks('get_status', none),
    show: showStatus,
  },
  {
    words: 'domain add',
    usage: 'DOMAIN',
    about: 'Host a domain; prints the DNS records to publish',
    ask: asks('add_domain', one('domain')),
    show: ({ domain, records }: { domain: string; records: { type: string; name: string; value: string }[] }) =>
      `${domain} is hosted here. Publish these records:\n\n${table(
        ['type', 'name', 'value'],
        records.map(({ type, name, value }) => [type, name, value]),
      )}`,
  },
  {
    words: 'domain list',
    usage: '',
    about: 'The domains of this box',
    ask: asks('list_domains', none),
    show: ({ domains }: { domains: { domain: string; verified: boolean }[] }) =>
      table(
        ['domain', 'verified'],
        domains.map(({ domain, verified }) => [domain, verified ? 'yes' : 'no']),
      ),
  },
  {
    words: 'mailbox add',
    usage: 'ADDRESS [--password-stdin]',
    about: 'Make a mailbox; prints its password once',
    options: ['password-stdin'],
    ask: asks('add_mailbox', address),
    show: secret,
  },
  {
    words: 'mailbox list',
    usage: '',
    about: 'The mailboxes of this box',
    ask: asks('list_mailboxes', none),
    show: ({ mailboxes }: { mailboxes: { address: string; messages: number; bytes: number }[] }) =>
      table(
        ['address', 'messages', 'size'],
        mailboxes.map((box) => [box.address, String(box.messages), bytes(box.bytes)]),
      ),
  },
  {
    words: 'mailbox password',
    usage: 'ADDRESS [--password-stdin]',
    about: 'Give a mailbox a new password; its open sessions end',
    options: ['password-stdin'],
    ask: asks('change_mailbox_password', address),
    show: secret,
  },
  {
    words: 'queue list',
    usage: '',
    about: 'Mail that waits to leave, and why',
    ask: asks('list_box_queue', none),
    show: showQueue,
  },
  { words: 'queue retry', usage: 'ID...|all', about: 'Try now', ask: asks('retry_box_queue', ids), show: changed },
  {
    words: 'queue release',
    usage: 'ID...|all',
    about: 'Let go what is held',
    ask: asks('release_box_queue', ids),
    show: changed,
  },
  {
    words: 'queue cancel',
    usage: 'ID...|all',
    about: 'Never send it; no bounce is made',
    ask: asks('cancel_box_queue', ids),
    show: changed,
  },
  {
    words: 'trace',
    usage: 'ID',
    about: 'What happened to a message, by the id that the log and the SMTP answer give',
    ask: asks('trace_box_message', one('trace')),
    show: showTrace,
  },
];
