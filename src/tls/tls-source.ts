import { constants } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Log } from '../../mail/log.ts';
import { type CertificatePair, loadSelfSigned } from './self-signed-file.ts';

// TLS 1.3, and TLS 1.2 suites with forward secrecy and AEAD only: no CBC, no SHA-1, no 3DES.
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/** TLS options of every listener. */
export const TLS_LISTENER_OPTIONS = {
  minVersion: 'TLSv1.2' as const,
  ciphers: CIPHERS,
  honorCipherOrder: true,
  // TLS 1.2 lets a client repeat the handshake on one connection: a signature each, past every connection limit.
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
};

export interface TlsOptions {
  /** PEM files; without both, a self-signed certificate is stored under `dataDir`. */
  certFile: string | undefined;
  keyFile: string | undefined;
  dataDir: string;
  hostname: string;
  log: Log;
  clock?: () => number;
}

export interface TlsSource {
  /** The context for the next connection of a client that names this server (SNI). Never throws. */
  secureContext(serverName?: string): SecureContext;
  readonly selfSigned: boolean;
  /** Current PEM texts, for servers that need them at start. */
  readonly pair: CertificatePair;
  /** Reloads the certificate if it changed. */
  check(): Promise<void>;
}

/** Loads or creates the box's certificate. Returns a `problem` sentence for unusable files. */
export async function createTlsSource(options: TlsOptions): Promise<TlsSource | { problem: string }> {
  const origin = originOf(options);
  try {
    const source = new CertificateSource(options.log, origin);
    await source.load();
    return source;
  } catch (error) {
    return { problem: `The certificate cannot be used: ${origin.name}: ${(error as Error).message}.` };
  }
}

/** Source of a certificate and key. */
interface CertificateOrigin {
  readonly name: string;
  readonly selfSigned: boolean;
  /** Differs whenever the certificate may have changed. */
  version(): Promise<string>;
  read(): Promise<CertificatePair>;
}

function originOf({ certFile, keyFile, dataDir, hostname, clock = Date.now }: TlsOptions): CertificateOrigin {
  if (certFile === undefined || keyFile === undefined) {
    return {
      name: `${dataDir}/tls`,
      selfSigned: true,
      version: async () => String(Math.floor(clock() / 86_400_000)), // checked once a day for expiry
      read: () => loadSelfSigned(dataDir, hostname, clock()),
    };
  }
  return {
    name: `${certFile} and ${keyFile}`,
    selfSigned: false,
    version: async () => (await Promise.all([certFile, keyFile].map(versionOf))).join(),
    read: async () => ({ cert: await readFile(certFile, 'latin1'), key: await readFile(keyFile, 'latin1') }),
  };
}

async function versionOf(path: string): Promise<string> {
  const facts = await stat(path).catch(() => undefined);
  return facts ? `${facts.mtimeMs}:${facts.size}:${facts.ino}` : 'missing';
}

class CertificateSource implements TlsSource {
  readonly selfSigned: boolean;
  readonly #log: Log;
  readonly #origin: CertificateOrigin;
  #context: SecureContext | undefined;
  #pair: CertificatePair = { cert: '', key: '' };
  /** Last checked version, valid or not, so that an invalid one is logged once. */
  #version = '';

  constructor(log: Log, origin: CertificateOrigin) {
    this.#log = log;
    this.#origin = origin;
    this.selfSigned = origin.selfSigned;
  }

  secureContext(): SecureContext {
    if (!this.#context) throw new TypeError('the certificate was not loaded');
    return this.#context;
  }

  get pair(): CertificatePair {
    return this.#pair;
  }

  /** Throws if the files are unusable. */
  async load(): Promise<void> {
    this.#version = await this.#origin.version();
    const pair = await this.#origin.read();
    this.#context = contextOf(pair);
    this.#pair = pair;
  }

  async check(): Promise<void> {
    try {
      if ((await this.#origin.version()) === this.#version) return;
      await this.load();
      this.#log.info({ certificate: this.#origin.name }, 'certificate reloaded');
    } catch (err) {
      // Incomplete or mismatched files are normal during a replacement: keep the old certificate.
      this.#log.error(
        { err, certificate: this.#origin.name },
        'failed to load the new certificate, keeping the old one',
      );
    }
  }
}

function contextOf({ cert, key }: CertificatePair): SecureContext {
  // Throws if certificate and key do not match. Accepts an expired certificate: a client may have pinned it.
  return createSecureContext({ cert, key, ...TLS_LISTENER_OPTIONS });
}
