import { isLoopback } from '../../mail/guard/network.ts';
import { HttpLimits } from '../http/rate.ts';
import type { World } from '../operations/world.ts';
import { PdfReader } from '../reading/pdf/read-pdf.ts';
import { Runner } from '../services/runner.ts';
import { Waits } from '../waiting/waits.ts';
import type { Inside } from './inside.ts';
import type { Listeners } from './ports.ts';

/** What operations may use. `listeners` is filled in when all doors are open. */
export function worldOf(inside: Inside, listeners: Listeners, refusedLogins: World['refusedLogins']): World {
  const { settings, clock, logins, queue } = inside;
  const local = (): string => `http://127.0.0.1:${listeners.http ?? listeners.https ?? 0}`;
  const baseUrl = (): string => settings.baseUrl ?? local();
  const ports = (): Listeners => listeners;
  return {
    ...inside,
    limits: new HttpLimits((ip) => inside.exempt(ip) || (inside.local && isLoopback(ip)), inside.guard),
    certificate: () => ({ pem: inside.tls.pair.cert, selfSigned: inside.tls.selfSigned }),
    startedAt: clock(),
    policy: inside.agents.policy,
    baseUrl,
    ports,
    pdfs: new PdfReader(),
    waits: new Waits(inside),
    runner: new Runner({ ...inside, baseUrl, ports }),
    revoked(account, gone) {
      if (gone === undefined) logins.revoked({ account });
      for (const credential of gone ?? []) logins.revoked({ account, credential });
    },
    catalogue: async () => (await import('../operations/catalogue.ts')).CATALOGUE,
    queueChanged: () => queue.changed(),
    refusedLogins,
  };
}
