import { publicId } from '../ids.ts';
import type { World } from '../operations/world.ts';

/** The page on which a person who is signed in decides about a message. Whoever has only the address can do nothing with it. */
export function approveUrl({ baseUrl }: Pick<World, 'baseUrl'>, tenant: number, submission: number): string {
  return `${baseUrl()}/o/${publicId('organization', tenant)}/outbox/${publicId('outbox', submission)}`;
}
