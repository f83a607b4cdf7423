import type { Command } from '../engine/types.ts';
import type { MailStore } from '../store.ts';
import type { PurgedSlice } from './purge.ts';

/**
 * Purges messages slice by slice while `continues`, with their files, and has their words removed from the full-text
 * index soon. All purges of messages run here: words of a purged message must not stay.
 */
export async function purgeMessages<Input>(
  store: MailStore,
  command: Command<Input, PurgedSlice>,
  input: Input,
  continues: () => boolean = () => true,
): Promise<void> {
  for (let more = true; more && continues();) {
    const done = await store.writeSlice(command, input);
    if (done.emails > 0) store.text.purged();
    // After the commit: the sweep finds files left by a crash before this.
    for (const file of done.files) await store.files.remove(file);
    ({ more } = done);
  }
}
