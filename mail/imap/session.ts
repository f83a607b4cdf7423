import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Login, Peer } from '../login/types.ts';
import type { State } from './command.ts';
import type { Door } from './door.ts';
import type { ImapStore, MailboxView } from './needs.ts';
import { Disconnected, Output } from './output.ts';
import { SelectedView } from './view.ts';
import { continuation, statusLine } from './wire/encoder.ts';
import { AFTER_LOGIN, CommandReader } from './wire/line-reader.ts';
import { ImapSyntaxError } from './wire/syntax-error.ts';

/** Pushed input beyond which the socket is not read while a command is at work. */
const INPUT = 64 * 1024;

/**
 * One client. Holds what is true of it between commands and offers the commands their few words: say, line, literal,
 * select. It decides nothing of the protocol; a thousand of them idle, so there is no timer and no buffer in it.
 */
export class Session {
  readonly door: Door;
  readonly ip: string;
  readonly exempt: boolean;
  readonly reader = new CommandReader();
  socket: Socket;
  output: Output;
  state: State = 'not-authenticated';
  secure: boolean;
  login: Login | undefined;
  selected: SelectedView | undefined;
  /** The loop is at work on a command. */
  busy = false;
  /** A command is IDLE: changes may be told at any moment. */
  idling = false;
  /** The message literal of a command was announced and is not yet read to its end. */
  readingLiteral = false;
  /** A TLS handshake is under way. */
  handshaking = false;
  /** Counted against the limits. */
  commands = 0;
  badCommands = 0;
  failedLogins = 0;
  /** ms UTC: when this state of the connection began, when the client last sent, when IDLE last said something. */
  since: number;
  lastInput: number;
  lastOutput: number;
  /** Octets that the client had taken when that was last looked at, and since when it has taken none. */
  taken = 0;
  takenAt: number;
  private account: ImapStore | undefined;
  private wake: (() => void) | undefined;
  private unwatch: (() => void) | undefined;
  private unguard: (() => void) | undefined;
  private gone = false;
  /** Said as BYE when the command at work is over. */
  private parting: { text: string; code: string } | undefined;

  constructor(door: Door, socket: Socket, ip: string, peer: { secure: boolean; exempt: boolean }) {
    this.door = door;
    this.ip = ip;
    this.secure = peer.secure;
    this.exempt = peer.exempt;
    this.socket = socket;
    this.output = new Output(socket);
    this.since = door.clock.now();
    this.lastInput = this.since;
    this.lastOutput = this.since;
    this.takenAt = this.since;
  }

  get peer(): Peer {
    return { ip: this.ip, door: 'imap', secure: this.secure };
  }

  /** TLS is on. `secure` may also be a loopback connection in local mode. */
  get encrypted(): boolean {
    return this.socket instanceof TLSSocket;
  }

  /** Nothing is under way, so that it may be ended without hurting anybody. */
  get resting(): boolean {
    return !this.busy || this.idling;
  }

  get open(): boolean {
    return !this.gone && this.state !== 'logout';
  }

  /** Connected, but possibly on its way out. */
  get connected(): boolean {
    return !this.gone;
  }

  /** The store of the logged-in account; only commands of logged-in states may ask. */
  get store(): ImapStore {
    if (this.account === undefined) throw new Error('no account before login');
    return this.account;
  }

  /** The selected mailbox; only commands of the selected state may ask. */
  get view(): SelectedView {
    if (this.selected === undefined) throw new Error('no mailbox is selected');
    return this.selected;
  }

  // What commands say and hear.

  /** Untagged responses with their CRLF, or pieces of them. Goes out with the tagged answer at the latest. */
  say(piece: string | Uint8Array): void {
    this.output.say(piece);
  }

  /** Asks the client to go on, at once. */
  prompt(text?: string): void {
    this.output.say(continuation(text));
    this.output.flush();
  }

  /** Says pieces while the client takes them; rejects with Disconnected. For answers that may be large. */
  room(): Promise<void> | undefined {
    return this.output.backedUp || this.gone ? this.output.room() : undefined;
  }

  /** The next line as it comes: an AUTHENTICATE response, IDLE's DONE. Rejects with Disconnected, or ImapSyntaxError. */
  async line(limit: number): Promise<Buffer> {
    for (;;) {
      const line = this.reader.nextLine(limit);
      if (line?.kind === 'line') return line.bytes;
      if (line !== undefined) {
        this.bye(line.text);
        throw new ImapSyntaxError(line.text);
      }
      await this.moreInput();
    }
  }

  /** Resolves when the client sent something. */
  async moreInput(): Promise<void> {
    this.output.flush();
    if (!this.open) throw new Disconnected();
    if (this.socket.isPaused()) this.socket.resume();
    await new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    if (!this.open) throw new Disconnected();
  }

  /** From now on this is the account's session. The store is the account's own. */
  enter(login: Login): void {
    this.login = login;
    this.account = this.door.open(login);
    this.state = 'authenticated';
    this.reader.limits = AFTER_LOGIN;
    this.commands = 0;
    this.unguard = this.door.logins.onRevoked(login, () =>
      this.expel('Your password was changed or revoked, or has expired'),
    );
  }

  select(shared: MailboxView, readOnly: boolean): SelectedView {
    this.selected = new SelectedView(shared, readOnly);
    this.unwatch = shared.onChange(() => this.changed());
    this.state = 'selected';
    return this.selected;
  }

  unselect(): void {
    this.unwatch?.();
    this.unwatch = undefined;
    this.selected?.shared.close();
    this.selected = undefined;
    this.door.announcer.delete(this);
    if (this.state === 'selected') this.state = 'authenticated';
  }

  /** Called by the announcer, and when IDLE begins: says what changed, if this client can hear it now. */
  tell(): void {
    const view = this.selected;
    if (view === undefined || !this.open || !this.resting) return;
    if (view.shared.gone) {
      this.bye('The selected mailbox was deleted', 'NONEXISTENT');
    } else if (this.idling && !this.output.backedUp) {
      this.utter(view.news('all'));
    }
  }

  /** Says something while no answer is under way. */
  utter(text: string): void {
    if (text === '') return;
    this.lastOutput = this.door.clock.now();
    this.output.say(text);
    this.output.flush();
  }

  // How it ends.

  /** Says BYE and closes; at once when nothing is under way, else after the answer that is. */
  bye(text: string, code = ''): void {
    if (!this.open) return;
    if (this.resting) this.end(text, code);
    else this.parting ??= { text, code };
  }

  /** Ends it now, whatever is under way: an answer breaks off rather than go on. */
  expel(text: string): void {
    if (!this.open) return;
    if (this.resting) this.end(text, '');
    else this.socket.destroy();
  }

  /** Says a BYE that had to wait for the command at work. */
  part(): void {
    const { parting } = this;
    if (parting !== undefined && this.open) this.end(parting.text, parting.code);
    else if (this.selected?.shared.gone === true) this.tell();
  }

  private end(text: string, code: string): void {
    this.output.say(statusLine('*', 'BYE', code, text));
    this.close();
  }

  /** Closes after what was said has been sent. */
  close(): void {
    this.state = 'logout';
    this.since = this.door.clock.now();
    this.output.end();
    this.socket.resume();
  }

  // What the socket reports.

  received(chunk: Buffer): void {
    if (this.state === 'logout') return;
    this.lastInput = this.door.clock.now();
    this.reader.push(chunk);
    if (this.busy) this.inputWhileBusy();
    else this.door.converse(this);
  }

  private inputWhileBusy(): void {
    const { wake } = this;
    this.wake = undefined;
    if (wake !== undefined) wake();
    else if (this.reader.buffered > INPUT) this.socket.pause();
  }

  drained(): void {
    this.output.drained();
    // What could not be said while the client did not read.
    if (this.idling && this.selected?.stale === true) this.door.announcer.add(this);
  }

  closed(): void {
    this.gone = true;
    this.output.drained();
    this.wake?.();
    this.wake = undefined;
    if (!this.busy) this.dispose();
  }

  /** Gives back everything that is held elsewhere. The loop calls it when the connection went while it was at work. */
  dispose(): void {
    if (!this.door.sessions.delete(this)) return;
    this.unselect();
    this.unguard?.();
    if (this.login !== undefined) this.door.accounts.leave(this.login.account, this);
    this.door.guard.leave('imap', this.ip);
    this.state = 'logout';
  }

  private changed(): void {
    if (this.idling || (this.selected?.shared.gone === true && this.resting)) this.door.announcer.add(this);
  }
}
