import { useRef } from 'preact/hooks';
import { moveToRole } from './actions.ts';
import type { FullEmail } from './jmap-types.ts';
import { folderByRole, isOwnAddress } from './mail-state.ts';
import { ownsAccount } from './rights.ts';
import { ruleFor, type KnownSender } from './senders.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** A menu of actions on a message and its sender, besides answering. */
export function MessageMenu({ email }: { email: FullEmail }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const sender = email.from?.[0]?.email ?? '';
  if (!ownsAccount() || sender === '' || isOwnAddress(sender)) return null;
  const junk = folderByRole('junk');
  const inJunk = junk !== undefined && email.mailboxIds[junk.id] === true;
  const run = (action: () => Promise<void>) => () => {
    menu.current?.removeAttribute('open');
    void action();
  };
  const rule = (kind: KnownSender['kind']) => run(() => ruleFor(kind, sender));
  return html`<details class="menu" ref=${menu}>
    <summary>${t('act.more')}</summary>
    <ul>
      <li>
        ${
          inJunk
            ? html`<button type="button" onClick=${run(() => moveToRole([email], 'inbox'))}>
                ${t('act.not-junk')}
              </button>`
            : html`<button type="button" onClick=${run(() => moveToRole([email], 'junk'))}>${t('act.junk')}</button>`
        }
      </li>
      <li><button type="button" onClick=${rule('block')}>${t('sender.block', { sender })}</button></li>
      <li><button type="button" onClick=${rule('allow')}>${t('sender.allow', { sender })}</button></li>
    </ul>
  </details>`;
}
