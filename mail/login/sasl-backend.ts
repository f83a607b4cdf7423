import type { ChannelBinding } from './channel-binding.ts';
import type { LoginOutcome, SaslStep } from './types.ts';

/** Checks credentials for a SASL mechanism. Bound to the peer, so that mechanisms do not depend on protocol or throttle. */
export interface SaslBackend {
  /** Checks a password. `authzid`: the requested authorization identity; must be the user. */
  password(user: string, password: string, authzid: string | undefined): Promise<LoginOutcome>;
  /** Salt and iteration count of a user, also of an unknown one, or the outcome that ends the exchange. */
  challenge(user: string): Promise<ScramChallenge | LoginOutcome>;
  /** Checks a token. `user`: the address of the mailbox, if the client named it. */
  bearer(user: string | undefined, token: string): Promise<LoginOutcome>;
  /** Channel bindings of the connection; undefined without TLS: no -PLUS mechanism is offered. */
  readonly channelBinding: ChannelBinding | undefined;
}

export interface ScramChallenge {
  kind: 'challenge';
  salt: Buffer;
  iterations: number;
  /** Checks the proof. `signature` is the server's last message. */
  prove(authMessage: string, proof: Buffer, authzid: string | undefined): Promise<ScramProof | LoginOutcome>;
}

export interface ScramProof {
  kind: 'proven';
  outcome: LoginOutcome;
  signature: string;
}

/** Handles one response: returns a step and the handler of the next response. */
export type SaslTurn = (response: Buffer | undefined) => Promise<readonly [SaslStep, SaslTurn?]>;
