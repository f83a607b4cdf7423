import { useEffect } from 'preact/hooks';
import { attempt, hideNotice, showNotice } from './notices.ts';
import { addKnownSender, loadSenderRules, removeKnownSender, type KnownSender, senderRules } from './senders.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

/** Settings: senders that are blocked, and those that are never junk. */
export function SenderSettings() {
  useEffect(() => {
    void attempt(loadSenderRules);
  }, []);
  const rules = senderRules.value;
  if (rules === undefined) return null;
  return html`<fieldset class="senders">
    <legend>${t('settings.senders')}</legend>
    <p class="soft">${t('settings.senders-hint')}</p>
    <form class="pair" onSubmit=${submitRule}>
      <label
        >${t('settings.pattern')} <input name="pattern" required maxlength="320" placeholder="shop.example"
      /></label>
      <div class="buttons">
        <button name="kind" value="block">${t('settings.block')}</button>
        <button name="kind" value="allow">${t('settings.allow')}</button>
      </div>
    </form>
    ${
      rules.length === 0
        ? html`<p class="soft">${t('settings.no-rules')}</p>`
        : html`<ul>
            ${rules.map(ruleLine)}
          </ul>`
    }
  </fieldset>`;
}

function ruleLine(rule: KnownSender) {
  const { id, kind, pattern } = rule;
  return html`<li key=${id}>
    <span class="name">${pattern}</span>
    <span class="soft">${kind === 'block' ? t('settings.blocked') : t('settings.allowed')}</span>
    <button
      type="button"
      class="small"
      aria-label=${kind === 'block' ? t('settings.unblock-one', { sender: pattern }) : t('settings.remove-one', { sender: pattern })}
      onClick=${() => void remove(rule)}
    >
      ${kind === 'block' ? t('settings.unblock') : t('button.remove')}
    </button>
  </li>`;
}

function submitRule(event: SubmitEvent): void {
  event.preventDefault();
  const form = event.target as HTMLFormElement;
  const typed = new FormData(form).get('pattern');
  const kind = (event.submitter as HTMLButtonElement | null)?.value === 'allow' ? 'allow' : 'block';
  void attempt(async () => {
    await addKnownSender(kind, typeof typed === 'string' ? typed : '');
    form.reset();
    showNotice(kind === 'block' ? t('settings.did-block') : t('settings.did-allow'));
  });
}

function remove(rule: KnownSender): Promise<void> {
  return attempt(async () => {
    await removeKnownSender(rule);
    showNotice(rule.kind === 'block' ? t('settings.did-unblock') : t('settings.did-remove'), async () => {
      await addKnownSender(rule.kind, rule.pattern);
      hideNotice();
    });
  });
}
