import type { Login } from '../login/types.ts';
import { copyOf } from '../delivery/incoming-report.ts';
import { type Asking, lookupKeys, route, routeAtOwnName, routeOutward } from '../delivery/route.ts';
import { looksRewritten, originalSender } from '../forwarder/srs.ts';
import type { Address } from '../message/address.ts';
import { networksOf } from '../policy/network-pattern.ts';
import { ownsAddress } from '../store/account.ts';
import { MOST_REPORTS } from '../store/departed.ts';
import { ArrivingMessage } from './arriving-message.ts';
import type { Contact } from './greylist.ts';
import type { IntakeDesk, StoreIntakeOptions } from './intake-desk.ts';
import type { Announced, Envelope, Intake, MessageSink, Refusal, Route } from './needs.ts';
import { ReportPace } from './report-pace.ts';
import { SlowAnswers } from './slow-answers.ts';
import { SubmittedMessage } from './submitted-message.ts';

/** Reports an hour that go back to one author of what was forwarded. */
const MOST_RETURNED = 20;

/** Stands between the SMTP door and the store: what is accepted becomes one commit. */
export class StoreIntake implements Intake, IntakeDesk {
  readonly options: StoreIntakeOptions;
  readonly unasked = new ReportPace();
  readonly slow = new SlowAnswers();
  readonly returned = new ReportPace<string>(MOST_RETURNED);

  constructor(options: StoreIntakeOptions) {
    this.options = options;
  }

  async route(to: Address, login: Login | undefined, announced?: Announced): Promise<Route> {
    const { store, hostname, clock, answers } = this.options;
    const answered = answers?.meant(to);
    if (answered !== undefined) return { kind: answered };
    const about = login === undefined ? await copyOf(this.options, to) : undefined;
    if (about !== undefined)
      return about.reports < MOST_REPORTS ? { kind: 'report', copy: about } : { kind: 'unknown' };
    const asking = {
      now: clock(),
      ...(announced?.size !== undefined && { size: announced.size }),
      ...(announced && { from: () => this.#known(announced, login) }),
    };
    const where = await (login === undefined ? route(store, to, asking) : routeOutward(store, to, asking));
    if (where.kind === 'elsewhere' && to.domain === hostname) return routeAtOwnName(store, to);
    if (where.kind === 'elsewhere' || where.kind === 'unverified') return where;
    return this.#returnOf(to) ?? where;
  }

  /** A sender that was rewritten here and shows it: no catch-all is to keep reports from who is meant. */
  #returnOf(to: Address): Route | undefined {
    const { forwardKey, clock } = this.options;
    const original = looksRewritten(to.local) ? originalSender(to, forwardKey, clock()) : undefined;
    return original && { kind: 'return', to: original };
  }

  /** Of a peer and its envelope sender, what rules may be about. Where somebody is logged in the peer is a person's device. */
  #known({ sender, ip }: Announced, login: Login | undefined): ReturnType<NonNullable<Asking['from']>> {
    if (login !== undefined) return { sender, networks: [], judged: true, account: login.account };
    return { sender, networks: networksOf(ip), judged: this.options.judging?.checks === true };
  }

  async postpone(contact: Contact): Promise<Refusal | undefined> {
    return this.options.greylist?.look(contact);
  }

  async maySend(login: Login, sender: Address | undefined): Promise<'own' | 'paused' | 'foreign'> {
    // The null reverse-path is for receipts that a person's client sends (RFC 8098); their From is checked like any.
    if (sender === undefined) return 'own';
    return this.owns(login, sender);
  }

  owns(login: Login, address: Address): Promise<'own' | 'paused' | 'foreign'> {
    return this.options.store.read(ownsAddress, { account: login.account, keys: lookupKeys(address) });
  }

  ready(): Refusal | undefined {
    if (this.options.store.unavailable() === undefined) return undefined;
    return { kind: 'refused', code: 452, enhanced: '4.3.1', text: 'The disk is nearly full, try again later' };
  }

  open(envelope: Envelope): MessageSink {
    return envelope.login === undefined
      ? new ArrivingMessage(this, envelope)
      : new SubmittedMessage(this, envelope, envelope.login);
  }

  close(): void {
    this.slow.end();
  }
}
