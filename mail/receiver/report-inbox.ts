import { formatAddress } from '../message/address.ts';
import { hasSameOwner } from '../policy/registrable.ts';
import type { Authentication } from '../auth/authentication.ts';
import type { ReceiverContext } from './context.ts';
import { requestVerdict } from './inbound-filter.ts';
import type { SmtpRefusal } from './needs.ts';
import type { ReceivedMessage } from './received-message.ts';
import { smtpRefusal } from './refusal.ts';

/** Octets of a message with a report; the largest reporters stay far below. */
const MAX_OCTETS = 10 * 1024 * 1024;
/** Report addresses that one message may name. */
const MAX_ADDRESSES = 5;

const TOO_LARGE = smtpRefusal(552, '5.3.4', 'Rejected: a report may have at most 10 MB. Send a smaller one');
const TOO_MANY = smtpRefusal(452, '4.3.1', 'Too many reports wait to be read, try again later');

/**
 * Stores a message for the report addresses among its recipients. Returns `all` when no other recipient is left; a refusal is
 * about the whole message.
 */
export async function takeReports(
  context: ReceiverContext,
  message: ReceivedMessage,
): Promise<'all' | 'none' | 'some' | SmtpRefusal> {
  const { recipients, id: trace } = message.envelope;
  const domains = new Set(recipients.flatMap(({ route }) => (route.kind === 'reports' ? [route.domain] : [])));
  if (context.reports === undefined || domains.size === 0) return 'none';
  if (message.index.size > MAX_OCTETS) return TOO_LARGE;
  const verified = await signerOf(context, message);
  const octets = await wholeMessage(context, message);
  const { parts } = message.index;
  for (const domain of [...domains].slice(0, MAX_ADDRESSES)) {
    if ((await context.reports.store({ domain, trace, verified, parts, octets })) === 'full') return TOO_MANY;
  }
  return recipients.every(({ route }) => route.kind === 'reports') ? 'all' : 'some';
}

/** Returns the domain of the author whose DKIM signature passes; '' if none does, or if that cannot be checked now. */
async function signerOf(context: ReceiverContext, message: ReceivedMessage): Promise<string> {
  const { filter, log } = context;
  if (filter?.network !== true) return '';
  const verdict = await requestVerdict(context, { ...filter, checks: false }, message, []);
  const signer = verdict === undefined ? '' : verifiedSigner(verdict.authentication);
  const from = message.envelope.sender;
  log.debug({ message: message.envelope.id, from: from && formatAddress(from), signer }, 'report authenticated');
  return signer;
}

/** A signature of another organization than that of the author says nothing about the reporter. */
function verifiedSigner({ dkim, dmarc }: Authentication): string {
  const passed = dkim.filter(({ result }) => result === 'pass').map(({ domain }) => domain);
  return (
    passed.find((domain) => domain === dmarc.domain) ?? passed.find((one) => hasSameOwner(one, dmarc.domain)) ?? ''
  );
}

async function wholeMessage({ store }: ReceiverContext, { blob }: ReceivedMessage): Promise<Uint8Array> {
  const { data, file } = blob;
  return file === null ? (data ?? new Uint8Array()) : store.files.read(file.file, 0, file.size);
}
