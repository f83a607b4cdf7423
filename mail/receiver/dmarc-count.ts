import type { AuthResults, DmarcResult } from '../store/filter/dmarc-result.ts';
import type { ReceiverContext } from './context.ts';
import type { DispositionInput } from './disposition.ts';
import type { ReceivedMessage, ReceiveResult } from './received-message.ts';

/** Signatures of a message that are counted, those that pass first. */
const MAX_SIGNATURES = 5;
const MAX_NAME_CHARS = 253;
/** Subject of aggregate reports (RFC 9990 3.5.2) and TLS reports (RFC 8460 5.3). */
const REPORT_SUBJECT = /^report domain:/i;

/**
 * Counts the DMARC result of a message for the aggregate report to its domain. Deferred messages come again. Authenticated
 * reports are not counted: two servers would report each other's reports for ever.
 */
export function countDmarcResult(
  { dmarcResults }: Pick<ReceiverContext, 'dmarcResults'>,
  message: ReceivedMessage,
  input: DispositionInput,
  result: ReceiveResult,
): void {
  const { dmarc } = input.verdict.authentication;
  if (dmarcResults === undefined || dmarc.reporting === undefined) return;
  const { refusal } = result;
  if (refusal !== undefined && refusal.code < 500) return;
  if (dmarc.aligned && REPORT_SUBJECT.test(message.index.subject)) return;
  dmarcResults.count(resultOf(message, input, refusal !== undefined));
}

function resultOf({ envelope }: ReceivedMessage, { verdict }: DispositionInput, refused: boolean): DmarcResult {
  const { spf, dkim, dmarc } = verdict.authentication;
  const { reporting = { domain: '', spf: false, dkim: false } } = dmarc;
  const disposition = dispositionOf(verdict, refused);
  return {
    ...reporting,
    source: envelope.peer.ip,
    headerFrom: dmarc.domain,
    envelopeFrom: plainName(envelope.sender?.domain ?? ''),
    disposition,
    reason: reasonOf(verdict, disposition),
    auth: authResults(spf, dkim),
  };
}

/** The strictest handling that DMARC alone caused. */
function dispositionOf(
  { authentication: { dmarc }, author, accounts }: DispositionInput['verdict'],
  refused: boolean,
): DmarcResult['disposition'] {
  if (dmarc.aligned) return 'pass';
  const kinds = accounts.length === 0 ? [author.kind] : accounts.map((one) => one.author.kind);
  if (refused && kinds.includes('refuse')) return 'reject';
  return kinds.includes('refuse') || kinds.includes('junk') ? 'quarantine' : 'none';
}

/** Reason for a disposition that is not the published policy. */
function reasonOf(
  { authentication: { dmarc }, author }: DispositionInput['verdict'],
  disposition: DmarcResult['disposition'],
): DmarcResult['reason'] {
  if (dmarc.aligned || disposition === dmarc.policy) return '';
  if (dmarc.result === 'temperror') return 'other';
  return author.kind === 'pass' ? 'trusted_forwarder' : 'local_policy';
}

function authResults(
  spf: DispositionInput['verdict']['authentication']['spf'],
  dkim: DispositionInput['verdict']['authentication']['dkim'],
): AuthResults {
  const sorted = dkim.toSorted((a, b) => Number(b.result === 'pass') - Number(a.result === 'pass'));
  return {
    ...(spf.identity !== 'helo' && { spf: { domain: plainName(spf.domain), result: spf.result } }),
    dkim: sorted
      .slice(0, MAX_SIGNATURES)
      .map(({ domain, selector, result }) => ({ domain: plainName(domain), selector: plainName(selector), result })),
  };
}

/** A stranger's name, fit for XML. */
function plainName(text: string): string {
  return text.slice(0, MAX_NAME_CHARS).replace(/[^A-Za-z0-9._:[\]-]/g, '_');
}
