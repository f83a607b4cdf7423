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

/** Answers that this process publishes to challenges, by its HTTP and HTTPS listeners and its name server. */
export class ChallengeAnswers {
  readonly #tokens = new Map<string, string>();
  readonly #certificates = new Map<string, SecureContext>();
  readonly #texts = new Map<string, string[]>();

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
    this.#texts.set(name, [...this.textsAt(name), value]);
  }

  removeText(name: string, value: string): void {
    const left = this.textsAt(name).toSpliced(this.textsAt(name).indexOf(value), 1);
    if (left.length === 0) this.#texts.delete(name);
    else this.#texts.set(name, left);
  }

  addToken({ token, keyAuthorization }: ChallengeTask): AsyncDisposable {
    this.#tokens.set(token, keyAuthorization);
    return later(() => this.#tokens.delete(token));
  }

  async addCertificate({ name, keyAuthorization }: ChallengeTask, now: number): Promise<AsyncDisposable> {
    this.#certificates.set(name, createSecureContext(await alpnCertificate(name, keyAuthorization, now)));
    return later(() => this.#certificates.delete(name));
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
