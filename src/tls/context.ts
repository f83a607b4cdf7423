import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';

import type { Log } from '../../mail/log.ts';
import type { CertificatePair } from './certificate.ts';
import { ownCertificate } from './self-signed-file.ts';

const POLL_MS = 30_000;

// TLS 1.3, and of TLS 1.2 what has forward secrecy and authenticated encryption: no CBC, no SHA-1, no 3DES.
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

export interface TlsOptions {
  /** PEM files; without both a self-signed certificate is kept under `dataDir`. */
  certFile: string | undefined;
  keyFile: string | undefined;
  dataDir: string;
  hostname: string;
  log: Log;
  clock?: () => number;
}

export interface TlsSource {
  /** The context for the next connection. Never throws. */
  secureContext(): SecureContext;
  readonly selfSigned: boolean;
  /** The PEM texts of now, for servers that want them at their start. */
  readonly pair: CertificatePair;
  /** Reads the certificate again when it changed. Happens by itself every 30 s. */
  check(): Promise<void>;
  close(): void;
}

/** Reads or makes the certificate of the box. Files that cannot be used at the start are a problem told in a sentence. */
export async function createTlsSource(options: TlsOptions): Promise<TlsSource | { problem: string }> {
  const origin = originOf(options);
  try {
    const source = new Source(options.log, origin);
    await source.load();
    return source;
  } catch (error) {
    return { problem: `The certificate cannot be used: ${origin.name}: ${(error as Error).message}.` };
  }
}

/** Where a certificate comes from. */
interface Origin {
  readonly name: string;
  readonly selfSigned: boolean;
  /** Differs whenever the certificate may have changed. */
  version(): Promise<string>;
  read(): Promise<CertificatePair>;
}

function originOf({ certFile, keyFile, dataDir, hostname, clock = Date.now }: TlsOptions): Origin {
  if (certFile === undefined || keyFile === undefined) {
    return {
      name: `${dataDir}/tls`,
      selfSigned: true,
      version: async () => String(Math.floor(clock() / 86_400_000)), // looked at once a day: it may be about to expire
      read: () => ownCertificate(dataDir, hostname, clock()),
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

class Source implements TlsSource {
  readonly selfSigned: boolean;
  readonly #log: Log;
  readonly #origin: Origin;
  readonly #timer: NodeJS.Timeout;
  #context: SecureContext | undefined;
  #pair: CertificatePair = { cert: '', key: '' };
  /** The version last looked at, good or bad, so that a bad one is told about once. */
  #version = '';

  constructor(log: Log, origin: Origin) {
    this.#log = log;
    this.#origin = origin;
    this.selfSigned = origin.selfSigned;
    this.#timer = setInterval(() => void this.check(), POLL_MS).unref();
  }

  secureContext(): SecureContext {
    if (!this.#context) throw new TypeError('the certificate was not loaded');
    return this.#context;
  }

  get pair(): CertificatePair {
    return this.#pair;
  }

  /** Throws when the files cannot be used. */
  async load(): Promise<void> {
    try {
      this.#version = await this.#origin.version();
      const pair = await this.#origin.read();
      this.#context = contextOf(pair);
      this.#pair = pair;
    } catch (error) {
      if (!this.#context) this.close();
      throw error;
    }
  }

  async check(): Promise<void> {
    try {
      if ((await this.#origin.version()) === this.#version) return;
      await this.load();
      this.#log.info({ certificate: this.#origin.name }, 'certificate read again');
    } catch (err) {
      // Half-written or mismatched files are normal while a certificate is being replaced: the old one goes on.
      this.#log.error({ err, certificate: this.#origin.name }, 'the new certificate cannot be used; the old one stays');
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

function contextOf({ cert, key }: CertificatePair): SecureContext {
  // Throws when the two do not belong together. An expired one is used all the same: a client may have pinned it.
  return createSecureContext({ cert, key, minVersion: 'TLSv1.2', ciphers: CIPHERS, honorCipherOrder: true });
}
