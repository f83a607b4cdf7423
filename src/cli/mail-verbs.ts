import { showQueue, showStatus, showTrace } from './mail-answers.ts';
import { bytes, table } from './table.ts';
import { asks, type Given, none, one, type Verb } from './verb.ts';

interface Secret {
  address: string;
  password: string;
}

/** `all`, numbers, or `domain:NAME` and `message:ID` for all of one destination or message. */
function ids(args: readonly string[]): object | undefined {
  const [only = '', ...more] = args;
  if (only === 'all' && more.length === 0) return { ids: 'all' };
  const [, kind, name] = /^(domain|message):(.+)$/.exec(only) ?? [];
  if (kind !== undefined && more.length === 0) return { ids: 'all', [kind === 'domain' ? 'domain' : 'trace']: name };
  const numbers = args.map(Number);
  return numbers.length > 0 && numbers.every((id) => Number.isInteger(id) && id > 0) ? { ids: numbers } : undefined;
}

/** The way first, then as above. */
function reroute([route, ...rest]: readonly string[]): object | undefined {
  const given = ids(rest);
  return route === undefined || given === undefined ? undefined : { ...given, route };
}

function address(args: readonly string[], given: Given): object | undefined {
  if (args.length !== 1) return undefined;
  // Not as an argument: every user of the machine sees those.
  const password = given['password-stdin'] === true ? given.stdin().replace(/\r?\n$/, '') : undefined;
  return { address: args[0], ...(password !== undefined && { password }) };
}

const secret = ({ address: to, password }: Secret): string => `${to}\npassword  ${password}   (shown once)`;
const changed = ({ changed: n, more }: { changed: number; more: boolean }): string =>
  `${n} changed${more ? ', and there are more: ask again' : ''}`;
const WHICH = 'ID...|all|domain:NAME|message:ID';

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
  { words: 'queue retry', usage: WHICH, about: 'Try now', ask: asks('retry_box_queue', ids), show: changed },
  {
    words: 'queue release',
    usage: WHICH,
    about: 'Let go what is held',
    ask: asks('release_box_queue', ids),
    show: changed,
  },
  {
    words: 'queue cancel',
    usage: WHICH,
    about: 'Never send it; no bounce is made',
    ask: asks('cancel_box_queue', ids),
    show: changed,
  },
  {
    words: 'queue hold',
    usage: WHICH,
    about: 'Keep it back until it is released',
    ask: asks('hold_box_queue', ids),
    show: changed,
  },
  {
    words: 'queue route',
    usage: `automatic|direct|smarthost|ROUTE ${WHICH}`,
    about: 'Send it by another way, now',
    ask: asks('reroute_box_queue', reroute),
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
