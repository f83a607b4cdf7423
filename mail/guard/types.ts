import type { Ban } from '../store/ban.ts';

/** Doors whose connections are counted together. */
export type Protocol = 'smtp' | 'imap' | 'http';

/**
 * What speaks against an address: `logins`: wrong passwords, and tries of a stranger to the account while it may not try; `recipients`: addresses
 * that do not exist; `scans`: another protocol, or what only somebody asks for who looks for holes; `loitering`:
 * connections that came for nothing and had to be ended.
 */
export type Offence = 'logins' | 'recipients' | 'scans' | 'loitering';

export type Entry =
  | { kind: 'in' }
  /** All places of the protocol are taken. */
  | { kind: 'full' }
  /** This address, or those around it, have their places. */
  | { kind: 'too-many' }
  /** Connections too often; in seconds. */
  | { kind: 'too-fast'; retryAfter: number }
  | { kind: 'banned'; ban: Ban };

/** What every door needs of the guard. One is shared by all, or each door would be another helping. */
export interface Gate {
  /** Counts a connection in, or says why it is turned away. Who is in must {@link leave}, under the same address. */
  enter(protocol: Protocol, ip: string): Entry;
  leave(protocol: Protocol, ip: string): void;
  /** The part of a protocol's places that is taken, from 0 to 1 and, by those who are not limited, above. */
  taken(protocol: Protocol): number;
  /** Notes something against an address; enough of it in a day is a ban. */
  offended(ip: string, offence: Offence): void;
  /** Notes that somebody showed to belong here: the address is not banned for a day, whoever else is behind it. */
  welcome(ip: string): void;
}

/** What the door for mail from everybody needs besides. */
export interface MailGate extends Gate {
  /** Asked before a message: 0, or the seconds until this address may send again. */
  pause(ip: string): number;
  /** Counts a message of which something was read, to its end or not. `taken`: it is in somebody's mailbox. */
  arrived(ip: string, octets: number, taken: boolean): void;
}
