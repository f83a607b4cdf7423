import { decodeWords } from '../../message/encoded-word.ts';
import { type Field, firstField, unfold } from '../../message/header.ts';
import { parseAddressList } from '../../message/header-addresses.ts';
import type { Sample } from '../sample.ts';
import { obfuscationWords, textWords } from './text-words.ts';

const MAX_FIELDS = 80;
const MAX_VALUE = 1000;
const MAX_WORD = 60;
const MAX_RECIPIENTS = 100;

/** Fields that this or another server added; they are no words of the author. */
const SERVER_FIELDS =
  /^(?:return-path|delivered-to|authentication-results|arc-.*|dkim-signature|received|x-spam.*|x-rspamd.*)$/;

/** Extracts words from the header. `sample` is the message as stored, with the Received field of this box on top. */
export function headerWords({ fields, subject, authentication }: Sample): string[] {
  const some = fields.slice(0, MAX_FIELDS).filter(({ name }) => name !== '');
  const text = (name: string): string => unfold((firstField(some, name) ?? '').slice(0, MAX_VALUE));
  // A forged From must not affect the score of the real owner.
  const forged = authentication.dmarc.result === 'fail';
  return [
    ...textWords(subject, 's:'),
    ...obfuscationWords(subject).map((one) => `s:${one}`),
    ...(/^(?:re|aw|sv|fwd?|wg|tr)\s?:/i.test(subject)
      ? [`answer ${text('references') === '' ? 'alone' : 'in a thread'}`]
      : []),
    ...(forged ? [] : authorWords(text('from'))),
    ...replyWords(text('reply-to'), text('from')),
    ...recipientWords(text('to'), text('cc')),
    ...peerWords(some),
    ...some.filter(({ name }) => !SERVER_FIELDS.test(name)).map(({ name }) => `field ${name.slice(0, MAX_WORD)}`),
    ...textWords(text('x-mailer') || text('user-agent'), 'mailer:'),
    ...idWords(text('message-id')),
    ...typeWords(text('content-type')),
    `zone ${/[+-]\d{4}/.exec(text('date'))?.[0] ?? ''}`,
    ...listWords(text('list-id'), text('list-unsubscribe')),
    `precedence ${text('precedence').toLowerCase().slice(0, MAX_WORD)}`,
    `priority ${(text('x-priority') || text('importance')).toLowerCase().slice(0, MAX_WORD)}`,
  ];
}

function authorWords(from: string): string[] {
  const [author] = parseAddressList(from, 1);
  const { name = '', mailbox = '', host = '' } = author ?? {};
  const domain = host.toLowerCase();
  return [
    ...textWords(decodeWords(name), 'author:'),
    `from ${mailbox.toLowerCase().slice(0, MAX_WORD)}@${domain.slice(0, MAX_WORD)}`,
    `domain ${domain.slice(0, MAX_WORD)}`,
    `top domain ${(domain.split('.').at(-1) ?? '').slice(0, MAX_WORD)}`,
    `mailbox ${mailbox.toLowerCase().replace(/\d+/g, '0').slice(0, MAX_WORD)}`,
    `author's name ${name === '' ? 'missing' : name.includes('@') ? 'an address' : 'there'}`,
  ];
}

function replyWords(replyTo: string, from: string): string[] {
  const [to] = parseAddressList(replyTo, 1);
  const [author] = parseAddressList(from, 1);
  if (to?.host === undefined) return [];
  const host = to.host.toLowerCase();
  return [
    `reply to ${host.slice(0, MAX_WORD)}`,
    `reply ${host === author?.host?.toLowerCase() ? 'here' : 'elsewhere'}`,
  ];
}

function recipientWords(to: string, cc: string): string[] {
  const all = [...parseAddressList(to, MAX_RECIPIENTS), ...parseAddressList(cc, MAX_RECIPIENTS)];
  const named = all.some(({ name }) => name !== undefined && name !== '');
  return [`recipients ${Math.ceil(Math.log2(all.length + 1))}`, `recipients ${named ? 'named' : 'bare'}`];
}

/** Extracts client and hop count from the top Received field. */
function peerWords(fields: readonly Field[]): string[] {
  const received = fields.filter(({ name }) => name === 'received');
  const top = unfold((received[0]?.value ?? '').slice(0, MAX_VALUE));
  const greeted = /^from\s([^\s;()]{1,255})/.exec(top)?.[1]?.toLowerCase() ?? '';
  const v4 = /\[(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.\d{1,3}\]/.exec(top);
  const v6 = /\[IPv6:([0-9a-f]{1,4}:[0-9a-f]{0,4}:[0-9a-f]{0,4})/i.exec(top)?.[1]?.toLowerCase();
  const [, a = '', b = '', c = ''] = v4 ?? [];
  return [
    `hops ${Math.min(received.length, 6)}`,
    `greets as ${greeted.split('.').slice(-2).join('.').slice(-MAX_WORD)}`,
    ...(v4 === null ? [] : [`net ${a}.${b}`, `net ${a}.${b}.${c}`]),
    ...(v6 === undefined ? [] : [`net ${v6}`]),
  ];
}

function idWords(id: string): string[] {
  const [, local = '', domain = ''] = /^<([^@>]{1,500})@([^>]{1,255})>/.exec(id) ?? [];
  return [`id at ${domain.toLowerCase().slice(-MAX_WORD)}`, `id like ${characterClasses(local)}`];
}

/** Extracts type, charset, and the boundary form, which depends on the sending program. */
function typeWords(type: string): string[] {
  const boundary = /boundary="?([^";\s]{1,200})/i.exec(type)?.[1] ?? '';
  return [
    `type ${(type.split(';')[0] ?? '').trim().toLowerCase().slice(0, MAX_WORD)}`,
    `charset ${(/charset="?([\w-]{1,40})/i.exec(type)?.[1] ?? '').toLowerCase()}`,
    ...(boundary === '' ? [] : [`boundary ${characterClasses(boundary)}`]),
  ];
}

/** Replaces runs of letters and digits by their class, `A`, `a` or `0`, and the logarithm of their length. */
function characterClasses(text: string): string {
  const classes = text.slice(0, 100).replace(/[A-Z]+|[a-z]+|\d+/g, (run) => {
    const kind = /^\d/.test(run) ? '0' : /^[A-Z]/.test(run) ? 'A' : 'a';
    return kind + String(Math.floor(Math.log2(run.length)));
  });
  return classes.slice(0, MAX_WORD);
}

function listWords(id: string, unsubscribe: string): string[] {
  const host = /<(?:https?:\/\/|mailto:[^@>]{1,100}@)([^/?>:]{1,255})/i.exec(unsubscribe)?.[1]?.toLowerCase();
  return [
    ...(id === '' ? [] : [`list ${(/<([^>]{1,255})>/.exec(id)?.[1] ?? id).toLowerCase().slice(0, MAX_WORD)}`]),
    ...(host === undefined ? [] : [`unsubscribe at ${host.slice(-MAX_WORD)}`]),
  ];
}
