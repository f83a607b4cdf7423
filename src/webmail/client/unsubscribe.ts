import { composeMailto } from './compose-state.ts';
import type { FullEmail } from './jmap-types.ts';
import { postForm } from './jmap.ts';
import { askBeforeLink } from './link-question.ts';
import { isOwnAddress } from './mail-state.ts';
import { attempt, showNotice } from './notices.ts';
import { ownsAccount } from './rights.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** A button that unsubscribes from the list of a message, where it names a way. RFC 2369, RFC 8058. */
export function UnsubscribeButton({ email }: { email: FullEmail }) {
  const offered = email['header:List-Unsubscribe:asURLs'] ?? [];
  const isOwn = (email.from ?? []).some((one) => isOwnAddress(one.email));
  if (!ownsAccount() || offered.length === 0 || isOwn) return null;
  return html`<button type="button" onClick=${() => void attempt(() => unsubscribe(email))}>
    ${t('act.unsubscribe')}
  </button>`;
}

async function unsubscribe({ id }: FullEmail): Promise<void> {
  const answer = await postForm('/mail/unsubscribe', { email: id });
  switch (answer['kind']) {
    case 'done':
      return showNotice(t('unsubscribe.done', { host: String(answer['host']) }));
    case 'mailto':
      return composeMailto(String(answer['href']));
    default:
      return askBeforeLink(String(answer['url']), t('unsubscribe.page'));
  }
}
