import { createSecureContext, type SecureContext } from 'node:tls';
import type { CertificatePair } from './self-signed-file.ts';
import { TLS_LISTENER_OPTIONS, type TlsSource } from './tls-source.ts';

/** A certificate of the authority, with a pair for each algorithm. */
export interface ServedCertificate {
  dnsNames: readonly string[];
  pairs: readonly CertificatePair[];
  /** Used for clients that name no server or an unknown one, in place of a self-signed certificate. */
  isDefault: boolean;
}

interface DefaultCertificate {
  context: SecureContext;
  /** ECDSA first. */
  pairs: readonly CertificatePair[];
}

/** Certificates of all TLS listeners: the box's own, and those of the authority, chosen by server name (SNI). */
export class ServedCertificates implements TlsSource {
  /** The certificate of the operator's files, or the self-signed one. */
  readonly own: TlsSource;
  /** Certificates of the authority. */
  issuedPairs: readonly CertificatePair[] = [];
  readonly #listeners = new Set<() => void>();
  #byName = new Map<string, SecureContext>();
  #issued: DefaultCertificate | undefined;

  constructor(own: TlsSource) {
    this.own = own;
  }

  secureContext(serverName = ''): SecureContext {
    const name = serverName.toLowerCase().replace(/\.$/, ''); // Outlook's servers send a trailing dot
    const found = this.#byName.get(name) ?? this.#byName.get(name.replace(/^[^.]+/, '*'));
    return found ?? this.#issued?.context ?? this.own.secureContext();
  }

  get selfSigned(): boolean {
    return this.#issued === undefined && this.own.selfSigned;
  }

  get pair(): CertificatePair {
    return this.#issued?.pairs[0] ?? this.own.pair;
  }

  /** Certificates and keys for clients that name no server, one for each algorithm. */
  get currentPems(): { cert: string[]; key: string[] } {
    const pairs = this.#issued?.pairs ?? [this.own.pair];
    return { cert: pairs.map(({ cert }) => cert), key: pairs.map(({ key }) => key) };
  }

  async check(): Promise<void> {
    const before = this.pair;
    await this.own.check();
    if (this.pair !== before) this.#notify();
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Replaces all certificates of the authority. Open connections keep the one of their handshake. */
  use(all: readonly ServedCertificate[]): void {
    const byName = new Map<string, SecureContext>();
    let issued: DefaultCertificate | undefined;
    for (const { dnsNames, pairs, isDefault } of all) {
      if (pairs.length === 0) continue;
      const [cert, key] = [pairs.map((one) => one.cert), pairs.map((one) => one.key)];
      const context = createSecureContext({ cert, key, ...TLS_LISTENER_OPTIONS });
      for (const name of dnsNames) byName.set(name, context);
      // Files that the operator named go first for the names that nothing else covers.
      if (isDefault && this.own.selfSigned) issued = { context, pairs };
    }
    this.#byName = byName;
    this.issuedPairs = all.flatMap(({ pairs }) => pairs);
    this.#issued = issued;
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
