import { decodeWords } from '../../message/encoded-word.ts';
import { type Field, firstField, unfold } from '../../message/header.ts';
import { parseAddressList } from '../../message/header-addresses.ts';
import type { Sample } from '../sample.ts';
import { textTricks, textWords } from './text-words.ts';

const MOST_FIELDS = 80;
const LONGEST_VALUE = 1000;
const LONGEST = 60;
const MOST_RECIPIENTS = 100;

/** Written by this box, or by another one about the message: what they say is no word of who wrote. */
const OURS = /^(?:return-path|delivered-to|authentication-results|arc-.*|dkim-signature|received|x-spam.*|x-rspamd.*)$/;

/** What the header says. `sample` is the message as it is kept, with the Received field of this box on top. */
export function headerWords({ fields, subject, authentication }: Sample): string[] {
  const some = fields.slice(0, MOST_FIELDS).filter(({ name }) => name !== '');
  const text = (name: string): string => unfold((firstField(some, name) ?? '').slice(0, LONGEST_VALUE));
  // A name that somebody borrowed speaks neither for nor against who owns it.
  const forged = authentication.dmarc.result === 'fail';
  return [
    ...textWords(subject, 's:'),
    ...textTricks(subject).map((one) => `s:${one}`),
    ...(/^(?:re|aw|sv|fwd?|wg|tr)\s?:/i.test(subject)
      ? [`answer ${text('references') === '' ? 'alone' : 'in a thread'}`]
      : []),
    ...(forged ? [] : authorWords(text('from'))),
    ...replyWords(text('reply-to'), text('from')),
    ...recipientWords(text('to'), text('cc')),
    ...peerWords(some),
    ...some.filter(({ name }) => !OURS.test(name)).map(({ name }) => `field ${name.slice(0, LONGEST)}`),
    ...textWords(text('x-mailer') || text('user-agent'), 'mailer:'),
    ...idWords(text('message-id')),
    ...typeWords(text('content-type')),
    `zone ${/[+-]\d{4}/.exec(text('date'))?.[0] ?? ''}`,
    ...listWords(text('list-id'), text('list-unsubscribe')),
    `precedence ${text('precedence').toLowerCase().slice(0, LONGEST)}`,
    `priority ${(text('x-priority') || text('importance')).toLowerCase().slice(0, LONGEST)}`,
  ];
}

function authorWords(from: string): string[] {
  const [author] = parseAddressList(from, 1);
  const { name = '', mailbox = '', host = '' } = author ?? {};
  const domain = host.toLowerCase();
  return [
    ...textWords(decodeWords(name), 'author:'),
    `from ${mailbox.toLowerCase().slice(0, LONGEST)}@${domain.slice(0, LONGEST)}`,
    `domain ${domain.slice(0, LONGEST)}`,
    `top domain ${(domain.split('.').at(-1) ?? '').slice(0, LONGEST)}`,
    `mailbox ${mailbox.toLowerCase().replace(/\d+/g, '0').slice(0, LONGEST)}`,
    `author's name ${name === '' ? 'missing' : name.includes('@') ? 'an address' : 'there'}`,
  ];
}

function replyWords(replyTo: string, from: string): string[] {
  const [to] = parseAddressList(replyTo, 1);
  const [author] = parseAddressList(from, 1);
  if (to?.host === undefined) return [];
  const host = to.host.toLowerCase();
  return [`reply to ${host.slice(0, LONGEST)}`, `reply ${host === author?.host?.toLowerCase() ? 'here' : 'elsewhere'}`];
}

function recipientWords(to: string, cc: string): string[] {
  const all = [...parseAddressList(to, MOST_RECIPIENTS), ...parseAddressList(cc, MOST_RECIPIENTS)];
  const named = all.some(({ name }) => name !== undefined && name !== '');
  return [`recipients ${Math.ceil(Math.log2(all.length + 1))}`, `recipients ${named ? 'named' : 'bare'}`];
}

/** Who handed it over, as the Received field on top says, and how many it came through. */
function peerWords(fields: readonly Field[]): string[] {
  const received = fields.filter(({ name }) => name === 'received');
  const top = unfold((received[0]?.value ?? '').slice(0, LONGEST_VALUE));
  const greeted = /^from\s([^\s;()]{1,255})/.exec(top)?.[1]?.toLowerCase() ?? '';
  const v4 = /\[(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.\d{1,3}\]/.exec(top);
  const v6 = /\[IPv6:([0-9a-f]{1,4}:[0-9a-f]{0,4}:[0-9a-f]{0,4})/i.exec(top)?.[1]?.toLowerCase();
  const [, a = '', b = '', c = ''] = v4 ?? [];
  return [
    `hops ${Math.min(received.length, 6)}`,
    `greets as ${greeted.split('.').slice(-2).join('.').slice(-LONGEST)}`,
    ...(v4 === null ? [] : [`net ${a}.${b}`, `net ${a}.${b}.${c}`]),
    ...(v6 === undefined ? [] : [`net ${v6}`]),
  ];
}

function idWords(id: string): string[] {
  const [, local = '', domain = ''] = /^<([^@>]{1,500})@([^>]{1,255})>/.exec(id) ?? [];
  return [`id at ${domain.toLowerCase().slice(-LONGEST)}`, `id like ${like(local)}`];
}

/** A boundary is as its program makes them. */
function typeWords(type: string): string[] {
  const boundary = /boundary="?([^";\s]{1,200})/i.exec(type)?.[1] ?? '';
  return [
    `type ${(type.split(';')[0] ?? '').trim().toLowerCase().slice(0, LONGEST)}`,
    `charset ${(/charset="?([\w-]{1,40})/i.exec(type)?.[1] ?? '').toLowerCase()}`,
    ...(boundary === '' ? [] : [`boundary ${like(boundary)}`]),
  ];
}

/** Letters and digits as what they are: `A`, `a`, `0`, each with about how many. */
function like(text: string): string {
  const told = text.slice(0, 100).replace(/[A-Z]+|[a-z]+|\d+/g, (run) => {
    const kind = /^\d/.test(run) ? '0' : /^[A-Z]/.test(run) ? 'A' : 'a';
    return kind + String(Math.floor(Math.log2(run.length)));
  });
  return told.slice(0, LONGEST);
}

function listWords(id: string, unsubscribe: string): string[] {
  const host = /<(?:https?:\/\/|mailto:[^@>]{1,100}@)([^/?>:]{1,255})/i.exec(unsubscribe)?.[1]?.toLowerCase();
  return [
    ...(id === '' ? [] : [`list ${(/<([^>]{1,255})>/.exec(id)?.[1] ?? id).toLowerCase().slice(0, LONGEST)}`]),
    ...(host === undefined ? [] : [`unsubscribe at ${host.slice(-LONGEST)}`]),
  ];
}
