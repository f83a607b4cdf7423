import type { Resolver } from '../dns/lookup.ts';
import { boundedResolver } from '../dns/bounded-resolver.ts';
import { type Field, readFields } from '../message/header.ts';
import { MOST_SETS } from './arc-chain.ts';
import { chainFound, checkChain } from './arc-verify.ts';
import { type Authentication, type Dmarc, NO_AUTHOR } from './authentication.ts';
import { type Author, readAuthor } from './author.ts';
import { BodyHashes } from './body-hashes.ts';
import { type Checked, checkSignature, dkimFound, openSigner } from './dkim-verify.ts';
import { askAhead, evaluate, type Published, published } from './dmarc.ts';
import type { KnownPolicies } from './known-policies.ts';
import { iprevOf, reverseNames } from './reverse-name.ts';
import { SignedHeader } from './signed-header.ts';
import { checkSpf, type SpfFound } from './spf.ts';

/** A message as it came, and from where. */
export interface Arrived {
  /** Its octets; called once. */
  chunks(): AsyncIterable<Buffer>;
  ip: string;
  helo: string;
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
}

export interface Verification {
  /** Null asks nobody: all is `none`, and only who the author is gets looked at. */
  resolver: Resolver | null;
  /** What author domains were known to ask for. */
  policies?: KnownPolicies;
  /** For all questions to the DNS together, ms. */
  timeoutMs?: number;
  /** ms UTC; signatures expire. */
  now?: number;
}

const LONGEST_MS = 5000;
/** Different ones that a message may cause beside its ARC chain; SPF alone has its own, lower limit (RFC 7208 4.6.4). */
const MOST_QUESTIONS = 100;
/** One for each seal, and one for the message signature of the last set. */
const MOST_CHAIN_QUESTIONS = MOST_SETS + 1;
/** Octets. A header that is longer is read by nobody else either. */
const MOST_HEADER = 256 * 1024;
/** Each costs a look-up and a verification. */
const MOST_SIGNATURES = 8;
const END = Buffer.from('\r\n\r\n');

/**
 * Evaluates SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 9989), the ARC chain (RFC 8617) and the name of the address (RFC
 * 8601) of a message, all at the same time. Bounded in time, look-ups and signatures; what could not be found out is
 * `temperror`, never a guess. Does not reject unless the message cannot be read.
 */
export async function authenticate(mail: Arrived, options: Verification): Promise<Authentication> {
  const { timeoutMs = LONGEST_MS, resolver, policies, now = Date.now() } = options;
  const chunks = mail.chunks()[Symbol.asyncIterator]();
  try {
    const message = await readHeader(chunks);
    if (message === undefined)
      return { ...nobodyAsked(mail.ip), dmarc: authorless('a header that is too long'), arc: 'fail' };
    const fields = readFields(message.header);
    const header = new SignedHeader(message.header, fields);
    if (resolver === null) return unasked(mail, readAuthor(fields, message.header));
    using own = closing(boundedResolver(resolver, { questions: MOST_QUESTIONS, timeoutMs }));
    using others = closing(boundedResolver(resolver, { questions: MOST_CHAIN_QUESTIONS, timeoutMs }));
    const asking = { resolver: own.resolver, chainResolver: others.resolver, policies, now };
    return await verify(mail, header, { ...message, rest: chunks }, asking);
  } finally {
    await chunks.return?.();
  }
}

interface Message {
  /** Read as latin1, without the empty line. */
  header: string;
  /** What was read of the body together with the header. */
  begun: Buffer;
  rest: AsyncIterator<Buffer>;
}

interface Asking {
  resolver: Resolver;
  /** For the ARC chain alone: fifty seals are to leave no question open that is about the author. */
  chainResolver: Resolver;
  policies: KnownPolicies | undefined;
  now: number;
}

async function verify(mail: Arrived, header: SignedHeader, message: Message, asking: Asking): Promise<Authentication> {
  const { resolver, chainResolver, policies, now } = asking;
  const bodies = new BodyHashes();
  const author = readAuthor(header.fields, message.header);
  const signed = header.fields.filter(({ name }) => name === 'dkim-signature').slice(0, MOST_SIGNATURES);
  // All questions are on their way before the body is read.
  const signatures = signed.map(async (field) => {
    return { field, checked: await checkSignature(header, field, bodies, { resolver, now }) };
  });
  const chain = checkChain(header, bodies, { resolver: chainResolver, now });
  const spf = checkSpf(mail, resolver);
  const reverse = reverseNames(mail.ip, resolver);
  const policy = author.kind === 'author' ? published(author.address.domain, resolver, policies) : undefined;
  const ahead = policy && alignmentAhead(policy, spf, signatures, resolver);
  const all = Promise.all([Promise.all(signatures), chain, spf, reverse, policy, ahead]);
  await readBody(message, bodies, all);
  const [checked, chained, sent, names, asked] = await all;
  const dkim = checked.map((one) => dkimFound(one.field, one.checked, bodies));
  return {
    spf: sent,
    dkim,
    dmarc: asked === undefined ? nobodysDmarc(author, mail) : await evaluate(asked, { spf: sent, dkim }, resolver),
    ...chainFound(chained, bodies),
    iprev: iprevOf(mail.ip, names),
  };
}

/** What alignment will ask about whoever may vouch for the author, each as soon as it is known that it may. */
async function alignmentAhead(
  author: Promise<Published>,
  spf: Promise<SpfFound>,
  signatures: readonly Promise<{ field: Field; checked: Checked }>[],
  resolver: Resolver,
): Promise<void> {
  const sent = spf.then(({ result, domain }) => (['pass', 'temperror'].includes(result) ? domain : undefined));
  const signers = signatures.map((one) => one.then(({ field, checked }) => openSigner(field, checked)));
  await Promise.all([
    askAhead(author, { method: 'spf', domain: sent }, resolver),
    ...signers.map((domain) => askAhead(author, { method: 'dkim', domain }, resolver)),
  ]);
}

/** Hashes the body; `all` is what goes on meanwhile and is not to fail unheard. */
async function readBody({ begun, rest }: Message, bodies: BodyHashes, all: Promise<unknown>): Promise<void> {
  all.catch(() => undefined);
  if (bodies.isEmpty) return;
  bodies.update(begun);
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) bodies.update(next.value);
  bodies.end();
}

/** The header of a message and how its body begins; undefined for one that is too long. */
async function readHeader(chunks: AsyncIterator<Buffer>): Promise<{ header: string; begun: Buffer } | undefined> {
  let head: Buffer = Buffer.alloc(0);
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
    // A message without a header begins with the empty line.
    const end = head[0] === 13 && head[1] === 10 ? -2 : head.indexOf(END);
    if ((end < 0 ? head.length : end) > MOST_HEADER && end !== -2) return undefined;
    if (end !== -1) return { header: head.toString('latin1', 0, end + 2), begun: head.subarray(end + 4) };
  }
  return { header: head.toString('latin1'), begun: Buffer.alloc(0) };
}

/** What is known where nobody is asked. */
function unasked(mail: Arrived, author: Author): Authentication {
  const none = nobodyAsked(mail.ip);
  if (author.kind !== 'author') return { ...none, dmarc: nobodysDmarc(author, mail) };
  const { domain } = author.address;
  return { ...none, dmarc: { ...NO_AUTHOR, result: 'none', domain, organization: domain } };
}

/** A report may be of nobody, any other message may not. */
function nobodysDmarc(author: Author, { sender }: Arrived): Dmarc {
  if (author.kind === 'nobody' && sender === '') return { result: 'none', ...NO_AUTHOR };
  return authorless(author.kind === 'author' ? '' : author.why);
}

function authorless(why: string): Dmarc {
  return { result: 'permerror', ...NO_AUTHOR, why };
}

function nobodyAsked(ip: string): Authentication {
  return {
    spf: { result: 'none', domain: '' },
    dkim: [],
    dmarc: { result: 'none', ...NO_AUTHOR },
    arc: 'none',
    iprev: { result: 'none', name: '', ip },
  };
}

/** What is known of a message of which nothing could be found out. */
export const UNKNOWN: Authentication = {
  spf: { result: 'temperror', domain: '' },
  dkim: [],
  dmarc: { result: 'temperror', ...NO_AUTHOR, unsure: true },
  arc: 'temperror',
  iprev: { result: 'temperror', name: '', ip: '' },
};

function closing<T extends Resolver & { close(): void }>(resolver: T): Disposable & { resolver: Resolver } {
  return { resolver, [Symbol.dispose]: () => resolver.close() };
}
