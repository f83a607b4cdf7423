import { createHash } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { alpnCertificate } from './key-pair.ts';
import type { ChallengeTask } from './order.ts';

/** Publishes TXT records in a zone: the name server of this box, or the API of a DNS provider. */
export interface TxtPublisher {
  /** True if this publisher can change the zone of a name, for the certificate of another: an alias may lead anywhere. */
  serves(name: string, certified: string): Promise<boolean>;
  /** Adds a record, and keeps all others at the name. Resolves when all servers of the zone have it. */
  publishTxt(name: string, value: string): Promise<void>;
  /** Removes exactly this record. */
  removeTxt(name: string, value: string): Promise<void>;
}

/** An answer that begins or ends, for the other nodes of a database: a challenge reaches any of them. */
export interface ChallengeChange {
  readonly type: 'token' | 'certificate' | 'text';
  readonly open: boolean;
  /** Name of the certificate or of the TXT record; the token. */
  readonly name: string;
  /** Key authorization, or the text of the record. */
  readonly value: string;
}

/** Answers that this process publishes to challenges, by its HTTP and HTTPS listeners and its name server. */
export class ChallengeAnswers {
  readonly #announce: (change: ChallengeChange) => void;
  readonly #tokens = new Map<string, string>();
  readonly #certificates = new Map<string, SecureContext>();
  readonly #texts = new Map<string, string[]>();

  /** `announce` is called for each change that is made here. */
  constructor(announce: (change: ChallengeChange) => void = () => undefined) {
    this.#announce = announce;
  }

  /** Response to `/.well-known/acme-challenge/TOKEN`. RFC 8555 8.3. */
  tokenText(token: string): string | undefined {
    return this.#tokens.get(token);
  }

  /** True while a TLS-ALPN-01 challenge is open. */
  get hasCertificates(): boolean {
    return this.#certificates.size > 0;
  }

  /** Certificate for a handshake with ALPN `acme-tls/1`. RFC 8737 3. */
  certificateFor(name: string): SecureContext | undefined {
    return this.#certificates.get(name);
  }

  /** TXT records at a name. */
  textsAt(name: string): readonly string[] {
    return this.#texts.get(name) ?? [];
  }

  /** True if a TXT record is at a name or below it, so that the name exists. RFC 8020. */
  existsAt(name: string): boolean {
    return [...this.#texts.keys()].some((one) => one === name || one.endsWith(`.${name}`));
  }

  addText(name: string, value: string): void {
    this.#addText(name, value);
    this.#announce({ type: 'text', open: true, name, value });
  }

  removeText(name: string, value: string): void {
    this.#removeText(name, value);
    this.#announce({ type: 'text', open: false, name, value });
  }

  addToken({ token: name, keyAuthorization: value }: ChallengeTask): AsyncDisposable {
    this.#tokens.set(name, value);
    this.#announce({ type: 'token', open: true, name, value });
    return later(() => {
      this.#tokens.delete(name);
      this.#announce({ type: 'token', open: false, name, value });
    });
  }

  async addCertificate({ name, keyAuthorization: value }: ChallengeTask, now: number): Promise<AsyncDisposable> {
    await this.#addCertificate(name, value, now);
    this.#announce({ type: 'certificate', open: true, name, value });
    return later(() => {
      this.#certificates.delete(name);
      this.#announce({ type: 'certificate', open: false, name, value });
    });
  }

  /** Follows a change of another node. */
  async follow({ type, open, name, value }: ChallengeChange, now: number): Promise<void> {
    if (type === 'text') return open ? this.#addText(name, value) : this.#removeText(name, value);
    if (open) return type === 'token' ? void this.#tokens.set(name, value) : this.#addCertificate(name, value, now);
    if (type === 'token') this.#tokens.delete(name);
    else this.#certificates.delete(name);
  }

  async #addCertificate(name: string, value: string, now: number): Promise<void> {
    this.#certificates.set(name, createSecureContext(await alpnCertificate(name, value, now)));
  }

  #addText(name: string, value: string): void {
    this.#texts.set(name, [...this.textsAt(name), value]);
  }

  #removeText(name: string, value: string): void {
    const left = this.textsAt(name).toSpliced(this.textsAt(name).indexOf(value), 1);
    if (left.length === 0) this.#texts.delete(name);
    else this.#texts.set(name, left);
  }
}

/** Text of the TXT record that answers DNS-01. RFC 8555 8.4. */
export function dnsText(keyAuthorization: string): string {
  return createHash('sha256').update(keyAuthorization).digest('base64url');
}

function later(undo: () => void): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      undo();
    },
  };
}
