import type { Dmarc } from '../auth/authentication.ts';
import type { ReceivedReport } from '../delivery/received-report.ts';
import { parseAddress } from '../message/address.ts';
import type { MessageIndex } from '../message/index-types.ts';
import { namedAddresses } from '../message/named-address.ts';
import { readEnvelope } from '../message/stored-envelope.ts';
import type { MessageEnvelope } from './needs.ts';

/** Local parts under which mail servers send reports; Exchange generates one for each organization. */
const SERVER = /^(?:mailer-daemon|postmaster|microsoftexchange[0-9a-f]{32})$/i;

/** The message that carries a report. */
export interface ReportMessage {
  sender: MessageEnvelope['sender'];
  index: MessageIndex;
  dmarc: Dmarc;
}

/**
 * Recognizes a report from a server of the domain to which the reported copy was sent. Few servers sign their reports,
 * and the null reverse-path gives SPF nothing to align, so DMARC fails even where the domain asks to reject such mail.
 * In the name of any other domain, or of a person, the report is treated like any forgery.
 */
export function isServerReport({ copy, effect }: ReceivedReport, { sender, index, dmarc }: ReportMessage): boolean {
  if (sender !== undefined || (effect.kind !== 'failed' && effect.kind !== 'reported')) return false;
  const [author, second] = namedAddresses(readEnvelope(index.envelope).from ?? []);
  const server = parseAddress(author?.email ?? '');
  const reported = parseAddress(copy.recipient);
  if (server === undefined || second !== undefined || reported === undefined) return false;
  return SERVER.test(server.local) && server.domain === dmarc.domain && isWithin(reported.domain, dmarc.organization);
}

function isWithin(domain: string, organization: string): boolean {
  return domain === organization || domain.endsWith(`.${organization}`);
}
