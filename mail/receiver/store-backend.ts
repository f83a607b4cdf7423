import { findCopy } from '../delivery/incoming-report.ts';
import { type RouteOptions, route, routeAtOwnName, routeOutward } from '../delivery/route.ts';
import { isSrsLocalPart, originalSender } from '../forwarder/srs.ts';
import type { Login } from '../login/types.ts';
import { lookupKeys, type Address } from '../message/address.ts';
import { networksOf } from '../policy/network-pattern.ts';
import { ownsAddress } from '../store/account/account.ts';
import { MOST_REPORTS } from '../store/queue/sent-copies.ts';
import { createContext, type ReceiverContext, type StoreBackendOptions } from './context.ts';
import type { GreylistAttempt } from './greylist.ts';
import { openInbound } from './inbound.ts';
import type {
  MessageEnvelope,
  MessageSink,
  ReceiverBackend,
  RecipientRoute,
  SenderFacts,
  SenderPermission,
  SmtpRefusal,
} from './needs.ts';
import { earlyRefusal } from './refusal.ts';
import { openSubmission } from './submission.ts';

/** The SMTP server's backend on the store: an accepted message is one commit. */
export class StoreReceiverBackend implements ReceiverBackend {
  readonly context: ReceiverContext;

  constructor(options: StoreBackendOptions) {
    this.context = createContext(options);
  }

  async route(to: Address, login: Login | undefined, from?: SenderFacts): Promise<RecipientRoute> {
    const { store, hostname, clock, noticeReplies: answers } = this.context;
    const reply = answers?.classify(to);
    if (reply !== undefined) return { kind: reply };
    const domain = login === undefined ? await this.context.reports?.find(to) : undefined;
    if (domain !== undefined) return { kind: 'reports', domain };
    const copy = login === undefined ? await findCopy(this.context, to) : undefined;
    if (copy !== undefined) return copy.reports < MOST_REPORTS ? { kind: 'report', copy } : { kind: 'unknown' };
    const facts = {
      now: clock(),
      ...(from?.size !== undefined && { size: from.size }),
      ...(from && { from: () => this.#ruleFacts(from, login) }),
    };
    const found = await (login === undefined ? route(store, to, facts) : routeOutward(store, to, facts));
    if (found.kind === 'elsewhere' && to.domain === hostname) return routeAtOwnName(store, to);
    if (found.kind === 'elsewhere' || found.kind === 'unverified') return found;
    return this.#rewrittenSender(to) ?? found;
  }

  /** A sender that was rewritten here takes precedence over a catch-all: its reports go back to the original sender. */
  #rewrittenSender(to: Address): RecipientRoute | undefined {
    const { forwardKey, clock } = this.context;
    const original = isSrsLocalPart(to.local) ? originalSender(to, forwardKey, clock()) : undefined;
    return original && { kind: 'return', to: original };
  }

  /** Facts that sender rules match. The network of a logged-in client is that of a person's device and matches none. */
  #ruleFacts({ sender, ip }: SenderFacts, login: Login | undefined): ReturnType<NonNullable<RouteOptions['from']>> {
    if (login !== undefined) return { sender, networks: [], checksAuthorLater: true, account: login.account };
    return { sender, networks: networksOf(ip), checksAuthorLater: this.context.filter?.checks === true };
  }

  async greylist(attempt: GreylistAttempt): Promise<SmtpRefusal | undefined> {
    return this.context.greylist?.check(attempt);
  }

  async maySend(login: Login, sender: Address | undefined): Promise<SenderPermission> {
    // Clients send MDNs under the null reverse-path (RFC 8098); the gate checks their From like any other.
    if (sender === undefined) return 'own';
    return this.context.store.read(ownsAddress, { account: login.account, keys: lookupKeys(sender) });
  }

  refuseNow(): SmtpRefusal | undefined {
    const busy = this.context.store.unavailable();
    return busy && earlyRefusal(busy);
  }

  open(envelope: MessageEnvelope): MessageSink {
    const { login } = envelope;
    return login === undefined ? openInbound(this.context, envelope) : openSubmission(this.context, envelope, login);
  }

  close(): void {
    this.context.tarpit.close();
  }
}
