import { publicId } from '../core/ids.ts';
import type { AppContext } from '../core/app-context.ts';

/** URL of the page on which a signed-in person decides about a message; the URL alone grants nothing. */
export function approveUrl({ baseUrl }: Pick<AppContext, 'baseUrl'>, tenant: number, submission: number): string {
  return `${baseUrl()}/o/${publicId('organization', tenant)}/outbox/${publicId('outbox', submission)}`;
}
