import type { SecureContext } from 'node:tls';

type SniCallback = (serverName: string, done: (error: Error | null, context?: SecureContext) => void) => void;

/**
 * Chooses the certificate by the name that a client sends. `base` is the context of the handshake: it stays for its own
 * names, as Node takes only one certificate of another one, and `base` may have one with ECDSA and one with RSA. An
 * exception would end the process (CVE-2026-21637).
 */
export function sniCallback(base: () => SecureContext, byName: (serverName: string) => SecureContext): SniCallback {
  return (serverName, done) => {
    let context: SecureContext;
    try {
      context = byName(serverName);
      if (context === base()) return done(null);
    } catch (error) {
      return done(error as Error);
    }
    done(null, context);
  };
}
