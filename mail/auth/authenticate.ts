import type { Resolver } from '../dns/lookup.ts';
import { boundedResolver } from '../dns/bounded-resolver.ts';
import { type Field, readFields } from '../message/header.ts';
import { MAX_ARC_SETS } from './arc-chain.ts';
import { evaluateArc, checkArcChain } from './arc-verify.ts';
import { type Authentication, type Dmarc, NO_AUTHOR } from './authentication.ts';
import { type Author, readAuthor } from './author.ts';
import { BodyHashes } from './body-hashes.ts';
import { type SignatureCheck, checkSignature, evaluateSignature, possibleSigner } from './dkim-verify.ts';
import { prefetchAlignment, evaluateDmarc, type PublishedDmarcPolicy, findPublishedPolicy } from './dmarc.ts';
import type { DmarcPolicyCache } from './dmarc-policy-cache.ts';
import { iprevOf, reverseNames } from './reverse-name.ts';
import { SignedHeader } from './signed-header.ts';
import { checkSpf, type SpfEvaluation } from './spf.ts';

/** A received message and its SMTP session facts. */
export interface AuthenticationInput {
  /** Streams the octets; called once. */
  chunks(): AsyncIterable<Buffer>;
  ip: string;
  helo: string;
  /** Envelope sender, '' for the null reverse-path. */
  sender: string;
}

export interface AuthenticationOptions {
  /** Null disables DNS: every result is `none`, and only From is checked. */
  resolver: Resolver | null;
  /** Cached DMARC policies, for DNS outages. */
  policies?: DmarcPolicyCache;
  /** Limit for all DNS lookups together, ms. */
  timeoutMs?: number;
  /** ms UTC; signatures expire. */
  now?: number;
}

const DEFAULT_TIMEOUT_MS = 5000;
/** Distinct DNS lookups a message, ARC excluded; SPF has its own lower limit (RFC 7208 4.6.4). */
const MAX_LOOKUPS = 100;
/** One lookup a seal, and one for the last ARC-Message-Signature. */
const MAX_ARC_LOOKUPS = MAX_ARC_SETS + 1;
/** Octets; longer headers are not authenticated. */
const MAX_HEADER_OCTETS = 256 * 1024;
/** Each signature costs a lookup and a verification. */
const MAX_SIGNATURES = 8;
const END = Buffer.from('\r\n\r\n');

/**
 * Evaluates SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 9989), ARC (RFC 8617) and reverse DNS (iprev, RFC 8601) of a
 * message in parallel. Bounded in time, lookups and signatures; a failed lookup yields `temperror`. The promise rejects
 * only if the message cannot be read.
 */
export async function authenticateMail(
  mail: AuthenticationInput,
  options: AuthenticationOptions,
): Promise<Authentication> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, resolver, policies, now = Date.now() } = options;
  const chunks = mail.chunks()[Symbol.asyncIterator]();
  try {
    const message = await readHeader(chunks);
    if (message === undefined)
      return { ...uncheckedResults(mail.ip), dmarc: dmarcPermerror('a header that is too long'), arc: 'fail' };
    const fields = readFields(message.header);
    if (resolver === null) return authenticateWithoutDns(mail, readAuthor(fields, message.header));
    const header = new SignedHeader(message.header, fields);
    using own = disposable(boundedResolver(resolver, { maxQuestions: MAX_LOOKUPS, timeoutMs }));
    using others = disposable(boundedResolver(resolver, { maxQuestions: MAX_ARC_LOOKUPS, timeoutMs }));
    const context = { resolver: own.resolver, chainResolver: others.resolver, policies, now };
    return await verify(mail, header, { ...message, rest: chunks }, context);
  } finally {
    await chunks.return?.();
  }
}

interface SplitMessage {
  /** Header block read as latin1, without the empty line. */
  header: string;
  /** Start of the body that was read together with the header. */
  begun: Buffer;
  rest: AsyncIterator<Buffer>;
}

interface LookupContext {
  resolver: Resolver;
  /** Separate lookup budget for ARC, so that 50 seals cannot starve SPF, DKIM and DMARC. */
  chainResolver: Resolver;
  policies: DmarcPolicyCache | undefined;
  now: number;
}

async function verify(
  mail: AuthenticationInput,
  header: SignedHeader,
  message: SplitMessage,
  context: LookupContext,
): Promise<Authentication> {
  const { resolver, chainResolver, policies, now } = context;
  const bodies = new BodyHashes();
  const author = readAuthor(header.fields, message.header);
  const signed = header.fields.filter(({ name }) => name === 'dkim-signature').slice(0, MAX_SIGNATURES);
  // All lookups start before the body is read.
  const signatures = signed.map(async (field) => {
    return { field, check: await checkSignature(header, field, bodies, { resolver, now }) };
  });
  const chain = checkArcChain(header, bodies, { resolver: chainResolver, now });
  const spf = checkSpf(mail, resolver);
  const reverse = reverseNames(mail.ip, resolver);
  const policy = author.kind === 'author' ? findPublishedPolicy(author.address.domain, resolver, policies) : undefined;
  const alignment = policy && prefetchAlignments(policy, spf, signatures, resolver);
  const pending = Promise.all([Promise.all(signatures), chain, spf, reverse, policy, alignment]);
  await readBody(message, bodies, pending);
  const [checks, arcCheck, spfEvaluation, names, published] = await pending;
  const dkim = checks.map(({ field, check }) => evaluateSignature(field, check, bodies));
  return {
    spf: spfEvaluation,
    dkim,
    dmarc:
      published === undefined
        ? dmarcWithoutAuthor(author, mail)
        : await evaluateDmarc(published, { spf: spfEvaluation, dkim }, resolver),
    ...evaluateArc(arcCheck, bodies),
    iprev: iprevOf(mail.ip, names),
  };
}

/** Prefetches the DNS lookups that DMARC alignment needs, as soon as an SPF or DKIM domain may align. */
async function prefetchAlignments(
  author: Promise<PublishedDmarcPolicy>,
  spf: Promise<SpfEvaluation>,
  signatures: readonly Promise<{ field: Field; check: SignatureCheck }>[],
  resolver: Resolver,
): Promise<void> {
  const sender = spf.then(({ result, domain }) => (['pass', 'temperror'].includes(result) ? domain : undefined));
  const signers = signatures.map((one) => one.then(({ field, check }) => possibleSigner(field, check)));
  await Promise.all([
    prefetchAlignment(author, { method: 'spf', domain: sender }, resolver),
    ...signers.map((domain) => prefetchAlignment(author, { method: 'dkim', domain }, resolver)),
  ]);
}

/** Hashes the body while the lookups in `pending` run; the catch avoids an unhandled rejection. */
async function readBody({ begun, rest }: SplitMessage, bodies: BodyHashes, pending: Promise<unknown>): Promise<void> {
  pending.catch(() => undefined);
  if (bodies.isEmpty) return;
  bodies.update(begun);
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) bodies.update(next.value);
  bodies.end();
}

/** Reads up to the end of the header. Undefined if the header is too long. */
async function readHeader(chunks: AsyncIterator<Buffer>): Promise<{ header: string; begun: Buffer } | undefined> {
  let head: Buffer = Buffer.alloc(0);
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
    // A message without a header begins with the empty line.
    const end = head[0] === 13 && head[1] === 10 ? -2 : head.indexOf(END);
    if ((end < 0 ? head.length : end) > MAX_HEADER_OCTETS && end !== -2) return undefined;
    if (end !== -1) return { header: head.toString('latin1', 0, end + 2), begun: head.subarray(end + 4) };
  }
  return { header: head.toString('latin1'), begun: Buffer.alloc(0) };
}

/** Returns the results if DNS is disabled. */
function authenticateWithoutDns(mail: AuthenticationInput, author: Author): Authentication {
  const none = uncheckedResults(mail.ip);
  if (author.kind !== 'author') return { ...none, dmarc: dmarcWithoutAuthor(author, mail) };
  const { domain } = author.address;
  return { ...none, dmarc: { ...NO_AUTHOR, result: 'none', domain, organization: domain } };
}

/** A bounce (null reverse-path) may have an empty From; any other message without one author is a `permerror`. */
function dmarcWithoutAuthor(author: Author, { sender }: AuthenticationInput): Dmarc {
  if (author.kind === 'nobody' && sender === '') return { result: 'none', ...NO_AUTHOR };
  return dmarcPermerror(author.kind === 'author' ? '' : author.why);
}

function dmarcPermerror(why: string): Dmarc {
  return { result: 'permerror', ...NO_AUTHOR, why };
}

function uncheckedResults(ip: string): Authentication {
  return {
    spf: { result: 'none', domain: '' },
    dkim: [],
    dmarc: { result: 'none', ...NO_AUTHOR },
    arc: 'none',
    iprev: { result: 'none', name: '', ip },
  };
}

/** Results of a message that could not be authenticated. */
export const UNAVAILABLE_AUTHENTICATION: Authentication = {
  spf: { result: 'temperror', domain: '' },
  dkim: [],
  dmarc: { result: 'temperror', ...NO_AUTHOR, unsure: true },
  arc: 'temperror',
  iprev: { result: 'temperror', name: '', ip: '' },
};

function disposable<T extends Resolver & { close(): void }>(resolver: T): Disposable & { resolver: Resolver } {
  return { resolver, [Symbol.dispose]: () => resolver.close() };
}
