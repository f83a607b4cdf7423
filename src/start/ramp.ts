import { isPublicAddress } from '../../mail/dns/public-address.ts';
import { registrableDomain } from '../../mail/policy/registrable.ts';
import { RampBook } from '../../mail/relay/ramp-book.ts';
import { readRamp, saveRamp } from '../../mail/store/queue/sending-ramp.ts';
import type { Services } from './shared-parts.ts';

const SAVE_MS = 60_000;

/** Opens the sending ramp; undefined: off, or this server sent mail before it had one. */
export async function openRamp(
  { settings, store, scheduler }: Services,
  stack: AsyncDisposableStack,
): Promise<RampBook | undefined> {
  if (!settings.sendingRamp) return undefined;
  const stored = await store.read(readRamp, undefined);
  if (stored === undefined) return undefined;
  const ramp = new RampBook({ organizationOf: registrableDomain, applies: isPublicAddress, stored });
  const save = async (): Promise<void> => {
    const states = ramp.changed();
    if (states.length > 0) await store.write(saveRamp, { states: states.map((state) => ({ ...state })) });
  };
  stack.defer(save);
  stack.use(scheduler.add({ name: 'sending-ramp', everyMs: SAVE_MS, run: save }));
  return ramp;
}
