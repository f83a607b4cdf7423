import type { Dmarc } from '../auth/authentication.ts';
import type { TakenReport } from '../delivery/report.ts';
import { parseAddress } from '../message/address.ts';
import type { MessageIndex } from '../message/index-types.ts';
import { namedAddresses } from '../message/named-address.ts';
import { readEnvelope } from '../message/stored-envelope.ts';
import type { Envelope } from './needs.ts';

/** As servers call themselves where they write to a sender; Exchange makes up a name for each organization. */
const SERVER = /^(?:mailer-daemon|postmaster|microsoftexchange[0-9a-f]{32})$/i;

/** A report and the message that it came in. */
export interface ReportMail {
  sender: Envelope['sender'];
  index: MessageIndex;
  dmarc: Dmarc;
}

/**
 * A server of the domain to which the reported copy went says what became of it, and has no proof to give: few servers
 * sign their own reports, under the null reverse-path, though their domains ask to refuse what is not signed. In the name
 * of any other domain, ours first of all, or of a person, it is a forgery like any.
 */
export function isOfServer({ copy, said }: TakenReport, { sender, index, dmarc }: ReportMail): boolean {
  if (sender !== undefined || (said.kind !== 'failed' && said.kind !== 'told')) return false;
  const [author, second] = namedAddresses(readEnvelope(index.envelope).from ?? []);
  const server = parseAddress(author?.email ?? '');
  const reported = parseAddress(copy.recipient);
  if (server === undefined || second !== undefined || reported === undefined) return false;
  return SERVER.test(server.local) && server.domain === dmarc.domain && isWithin(reported.domain, dmarc.organization);
}

function isWithin(domain: string, organization: string): boolean {
  return domain === organization || domain.endsWith(`.${organization}`);
}
