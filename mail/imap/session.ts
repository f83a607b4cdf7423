import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type Login, memoryHolderOf, type Peer } from '../login/types.ts';
import type { ImapStore, MailboxView } from './imap-store.ts';
import { SessionMemory } from './session-memory.ts';
import { channelBindingOf } from '../login/channel-binding.ts';
import { networkOf } from '../guard/network.ts';
import { Disconnected, Output } from './output.ts';
import { SearchContexts } from './search/contexts.ts';
import { SelectedView, type ViewAccess } from './selected-view.ts';
import { continuation, statusLine } from './wire/encoder.ts';
import { SessionInput } from './session-input.ts';
import { AFTER_LOGIN, BEFORE_LOGIN, CommandReader } from './wire/command-reader.ts';
import { ImapSyntaxError } from './wire/syntax-error.ts';
import type { AccountSessions } from './account-sessions.ts';
import type { IdleNotifier } from './idle-notifier.ts';
import type { ImapOptions } from './options.ts';
import type { ImapLimits } from './limits.ts';
import type { Capability } from './extensions.ts';
import type { SessionNotifications } from './notify/session-notifications.ts';
import { writePendingUpdates } from './notify/session-updates.ts';
import { type EnabledExtension, type EnabledExtensions, NOTHING_ENABLED, withEnabled } from './enabled.ts';

export type State = 'not-authenticated' | 'authenticated' | 'selected' | 'logout';

/** Dependencies and state shared by all sessions of the server. */
export interface ImapContext extends Required<Omit<ImapOptions, 'limits' | 'listeners'>> {
  readonly limits: ImapLimits;
  /** Capabilities that commands add. */
  readonly extensions: readonly Capability[];
  readonly accounts: AccountSessions;
  readonly idleNotifier: IdleNotifier;
  readonly sessions: Set<Session>;
  /** Runs the commands of a session that received input. */
  run(session: Session): void;
}

/** Buffered input, in octets, beyond which the socket is paused while a command runs. */
const MAX_BUFFERED_INPUT = 64 * 1024;

/**
 * One connection: its state between commands, and the methods by which commands read and write. It has no protocol logic.
 * Thousands of sessions are idle, so none has a timer or a buffer of its own.
 */
export class Session {
  readonly context: ImapContext;
  readonly ip: string;
  readonly exempt: boolean;
  readonly reader = new CommandReader();
  socket: Socket;
  output: Output;
  state: State = 'not-authenticated';
  secure: boolean;
  login: Login | undefined;
  /** Account by which this connection is counted; undefined: by its address. */
  countedAccount: number | undefined;
  selected: SelectedView | undefined;
  /** The notifications that the client requested by NOTIFY; undefined: none yet. */
  notifications: SessionNotifications | undefined;
  /** Extensions that the client enabled. They stay until the end of the session. RFC 5161 3.1. */
  enabled: EnabledExtensions = NOTHING_ENABLED;
  /** Capabilities that this account does not list. */
  hiddenCapabilities: readonly string[] = [];
  /** The loop runs a command. */
  busy = false;
  /** IDLE is running: untagged updates may be sent at any time. */
  idling = false;
  /** A message literal was announced and is not read to its end. */
  readingLiteral = false;
  /** A TLS handshake is in progress. */
  handshaking = false;
  /** Counters for the limits. */
  commands = 0;
  badCommands = 0;
  failedLogins = 0;
  /** ms UTC: begin of this connection state, last input, last unsolicited output. */
  stateSince: number;
  lastInput: number;
  lastOutput: number;
  /** Octets that the client had read at the last sweep, and the time since when it has read none. */
  bytesDrained = 0;
  drainedAt: number;
  private account: ImapStore | undefined;
  private searchContexts: SearchContexts | undefined;
  /** Memory of the unsent output and of an incomplete command; from login. */
  private memory: SessionMemory | undefined;
  readonly input: SessionInput;
  /** This connection counts for its address or account. */
  private isCounted = true;
  private wake: (() => void) | undefined;
  private stopViewWatch: (() => void) | undefined;
  private stopRevocationWatch: (() => void) | undefined;
  private isClosed = false;
  /** BYE to send when the running command ends. */
  private pendingBye: { text: string; code: string } | undefined;

  constructor(context: ImapContext, socket: Socket, ip: string, peer: { secure: boolean; exempt: boolean }) {
    this.context = context;
    this.ip = ip;
    this.secure = peer.secure;
    this.exempt = peer.exempt;
    this.socket = socket;
    this.output = new Output(socket);
    this.input = new SessionInput(this);
    this.stateSince = context.clock.now();
    this.lastInput = this.stateSince;
    this.lastOutput = this.stateSince;
    this.drainedAt = this.stateSince;
  }

  get peer(): Peer {
    return { ip: this.ip, protocol: 'imap', secure: this.secure, channelBinding: channelBindingOf(this.socket) };
  }

  /** TLS is on. `secure` may also be a loopback connection in local mode. */
  get encrypted(): boolean {
    return this.socket instanceof TLSSocket;
  }

  /** True when no command runs, or only IDLE: it can be closed without breaking a response. */
  get interruptible(): boolean {
    return !this.busy || this.idling;
  }

  get open(): boolean {
    return !this.isClosed && this.state !== 'logout';
  }

  /** The socket is open, possibly after BYE. */
  get connected(): boolean {
    return !this.isClosed;
  }

  /** The store of the logged-in account. Throws before login. */
  get store(): ImapStore {
    if (this.account === undefined) throw new Error('no account before login');
    return this.account;
  }

  /** The selected mailbox. Throws when none is selected. */
  get view(): SelectedView {
    if (this.selected === undefined) throw new Error('no mailbox is selected');
    return this.selected;
  }

  /** Mailbox names are UTF-8 in both directions, and so are quoted strings. RFC 6855 3, RFC 9051 5.1. */
  get utf8(): boolean {
    return this.enabled.has('UTF8=ACCEPT') || this.enabled.has('IMAP4rev2');
  }

  /** The client speaks IMAP4rev2; without ENABLE it is IMAP4rev1. RFC 9051 Appendix A. */
  get isRev2(): boolean {
    return this.enabled.has('IMAP4rev2');
  }

  /** Enables an extension, also one that a command enables by being used. */
  enable(name: EnabledExtension): void {
    this.enabled = withEnabled(this.enabled, name);
  }

  /** Writes untagged responses with their CRLF, or pieces of them. Flushed with the tagged response at the latest. */
  write(piece: string | Uint8Array): void {
    this.output.write(piece);
  }

  /** Sends a command continuation request at once. RFC 9051 7.6. */
  sendContinuation(text?: string): void {
    this.output.write(continuation(text));
    this.output.flush();
  }

  /** Waits while too much output is buffered; for large responses. Rejects with Disconnected. */
  drained(): Promise<void> | undefined {
    this.output.isShort = !this.countMemory();
    return this.output.backedUp || this.isClosed ? this.output.drained() : undefined;
  }

  /** Reads a raw line: an AUTHENTICATE response, IDLE's DONE. Rejects with Disconnected, or ImapSyntaxError. */
  async readLine(limit: number): Promise<Buffer> {
    for (;;) {
      const line = this.reader.nextLine(limit);
      if (line?.kind === 'line') return line.bytes;
      if (line !== undefined) {
        this.bye(line.text);
        throw new ImapSyntaxError(line.text);
      }
      await this.waitForInput();
    }
  }

  /** Resolves when input arrived. */
  async waitForInput(): Promise<void> {
    this.output.flush();
    if (!this.open) throw new Disconnected();
    this.input.resume();
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    if (!this.open) throw new Disconnected();
  }

  /** Binds the session to an account and opens its store. */
  logIn(login: Login): void {
    this.login = login;
    this.account = this.context.open(login);
    this.memory = new SessionMemory(this.context.memory, [memoryHolderOf(login), networkOf(this.ip)]);
    this.state = 'authenticated';
    if (this.context.guard.logIn('imap', this.ip, login.account)) this.countedAccount = login.account;
    this.reader.limits = AFTER_LOGIN;
    this.commands = 0;
    this.stopRevocationWatch = this.context.logins.onRevoked(login, () =>
      this.terminate('Password changed, revoked or expired'),
    );
  }

  /** Returns to the state before login. Failed logins stay counted. RFC 8437 3. */
  unauthenticate(): void {
    const { context, ip, login } = this;
    this.unselect();
    this.stopNotifications();
    this.stopRevocationWatch?.();
    this.stopRevocationWatch = undefined;
    this.memory?.[Symbol.dispose]();
    this.memory = undefined;
    if (login !== undefined) context.accounts.leave(login.account, this);
    this.login = this.account = undefined;
    this.enabled = NOTHING_ENABLED;
    this.reader.limits = BEFORE_LOGIN;
    this.commands = 0;
    this.state = 'not-authenticated';
    this.stateSince = context.clock.now();
    if (this.countedAccount === undefined) return;
    context.guard.leave('imap', ip, this.countedAccount);
    this.countedAccount = undefined;
    this.isCounted = context.guard.enter('imap', ip).kind === 'in';
    if (!this.isCounted) this.bye('Too many connections from this address without a login', 'LIMIT');
  }

  /** Compresses and decompresses everything from now on. RFC 4978. */
  startCompression(): void {
    this.output.startCompression();
    const rest = this.reader.takeRest();
    this.input.startCompression();
    if (rest.length > 0) this.onData(rest);
  }

  /** Searches that the client follows. */
  get contexts(): SearchContexts {
    return (this.searchContexts ??= new SearchContexts());
  }

  get followsSearches(): boolean {
    return this.searchContexts?.isEmpty === false;
  }

  select(shared: MailboxView, access: ViewAccess): SelectedView {
    this.selected = new SelectedView(shared, access, this);
    this.stopViewWatch = shared.onChange(() => this.onViewChange());
    this.state = 'selected';
    return this.selected;
  }

  unselect(): void {
    this.stopViewWatch?.();
    this.stopViewWatch = undefined;
    if (this.selected !== undefined) this.notifications?.onUnselect(this.selected);
    this.selected?.shared.close();
    this.selected = undefined;
    this.searchContexts = undefined;
    this.context.idleNotifier.delete(this);
    if (this.state === 'selected') this.state = 'authenticated';
  }

  /** Called by the idle notifier and at the begin of IDLE. */
  notify(): void {
    writePendingUpdates(this);
  }

  private stopNotifications(): void {
    this.notifications?.stop();
    this.notifications = undefined;
  }

  /** Writes an untagged response outside of a command, or during IDLE. */
  writeUnsolicited(text: string): void {
    if (text === '') return;
    this.lastOutput = this.context.clock.now();
    this.output.write(text);
    this.output.flush();
  }

  /** Sends BYE and closes: at once when interruptible, else after the running command. */
  bye(text: string, code = ''): void {
    if (!this.open) return;
    if (this.interruptible) this.closeWithBye(text, code);
    else this.pendingBye ??= { text, code };
  }

  /** Closes at once, also in the middle of a response. */
  terminate(text: string): void {
    if (!this.open) return;
    if (this.interruptible) this.closeWithBye(text, '');
    else this.socket.destroy();
  }

  /** Sends a BYE that waited for the running command. */
  sendPendingBye(): void {
    const { pendingBye: parting } = this;
    if (parting !== undefined && this.open) this.closeWithBye(parting.text, parting.code);
    else if (this.selected?.shared.gone === true) this.notify();
  }

  private closeWithBye(text: string, code: string): void {
    this.output.write(statusLine('*', 'BYE', code, text));
    this.close();
  }

  /** Closes after pending output was sent. */
  close(): void {
    this.state = 'logout';
    this.stateSince = this.context.clock.now();
    this.output.end();
    this.socket.resume();
  }

  onData(chunk: Buffer): void {
    if (this.state !== 'logout') this.input.push(chunk);
  }

  /** Takes input, decompressed. */
  onInput(octets: Buffer): void {
    if (this.state === 'logout') return;
    this.lastInput = this.context.clock.now();
    this.reader.push(octets);
    if (this.busy) this.inputWhileBusy();
    else this.context.run(this);
  }

  /** Ends a session whose incomplete command needs more memory than is left: it could stay until the idle timeout. */
  countInput(): void {
    if (this.reader.buffered === 0 || this.countMemory()) return;
    this.reader.clear();
    this.bye('The server has no memory left for a command of this size. Try again later', 'UNAVAILABLE');
  }

  /** Ends the session: what follows invalid compressed input cannot be parsed. */
  onInvalidInput(): void {
    if (this.open) this.terminate('The compressed data are invalid');
  }

  private inputWhileBusy(): void {
    const { wake } = this;
    this.wake = undefined;
    if (wake !== undefined) wake();
    else if (this.reader.buffered > MAX_BUFFERED_INPUT) this.input.pause();
  }

  onDrain(): void {
    this.countMemory();
    this.output.onDrain();
    // Updates that were held back while the client did not read.
    if (this.notifications !== undefined || (this.idling && this.selected?.isStale === true))
      this.context.idleNotifier.add(this);
  }

  onClose(): void {
    this.isClosed = true;
    this.output.onDrain();
    this.wake?.();
    this.wake = undefined;
    if (!this.busy) this.dispose();
  }

  /** Releases everything held elsewhere. The loop calls it when the connection closed during a command. */
  dispose(): void {
    if (!this.context.sessions.delete(this)) return;
    this.unselect();
    this.stopNotifications();
    this.stopRevocationWatch?.();
    this.memory?.[Symbol.dispose]();
    if (this.login !== undefined) this.context.accounts.leave(this.login.account, this);
    if (this.isCounted) this.context.guard.leave('imap', this.ip, this.countedAccount);
    this.input.close();
    this.state = 'logout';
  }

  /** Counts the unsent output and the incomplete command; false when the memory for them is used up. */
  private countMemory(): boolean {
    return this.memory?.count({ output: this.output.waiting, input: this.reader.buffered }) !== false;
  }

  private onViewChange(): void {
    const isNotified = this.idling || this.notifications !== undefined;
    if (isNotified || (this.selected?.shared.gone === true && this.interruptible)) this.context.idleNotifier.add(this);
  }
}
