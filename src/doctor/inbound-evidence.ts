import { isPublicAddress } from '../../mail/dns/public-address.ts';
import type { Log } from '../../mail/log.ts';
import type { Store } from '../../mail/store/engine/types.ts';
import { recordPortEvidence } from './port-commands.ts';

const HOUR = 3_600_000;

interface EvidenceContext {
  store: Pick<Store, 'write'>;
  clock: () => number;
  log: Log;
}

/** Records connections from public addresses to the MX listener, once an hour at most: the doctor asks for days. */
export class InboundEvidence {
  readonly #context: EvidenceContext;
  #recordedAt = -Infinity;

  constructor(context: EvidenceContext) {
    this.#context = context;
  }

  /**
   * Leaves out looks of this machine at its own address (`own`): they pass no firewall. Never rejects: the connection goes
   * on without the record, and the next one tries again.
   */
  async connected(ip: string, own: string): Promise<void> {
    const { store, clock, log } = this.#context;
    const now = clock();
    if (now - this.#recordedAt < HOUR || !isPublicAddress(ip) || ip === own) return;
    this.#recordedAt = now;
    try {
      await store.write(recordPortEvidence, { name: 'incoming', value: ip });
    } catch (error) {
      this.#recordedAt = -Infinity;
      log.warn({ err: error }, 'failed to record a connection for the check of port 25');
    }
  }
}

/** Records connections for the doctor, without a wait. */
export function inboundRecorder(context: EvidenceContext): (ip: string, own: string) => void {
  const evidence = new InboundEvidence(context);
  return (ip, own) => void evidence.connected(ip, own);
}
