import { useEffect } from 'preact/hooks';
import { attempt, hideNotice, showNotice } from './notices.ts';
import { addSenderRule, loadSenderRules, removeSenderRule, type KnownSender, senderRules } from './senders.ts';
import { html } from './view.ts';

/** Settings: senders that are blocked, and those that are never junk. */
export function SenderSettings() {
  useEffect(() => {
    void attempt(loadSenderRules);
  }, []);
  const rules = senderRules.value;
  if (rules === undefined) return null;
  return html`<fieldset class="senders">
    <legend>Blocked and allowed senders</legend>
    <p class="soft">
      Mail from blocked senders is refused. Mail from allowed ones is never junk, if their domain confirms them. Your
      organization may have rules of its own besides these.
    </p>
    <form class="pair" onSubmit=${submitRule}>
      <label>Address or domain <input name="pattern" required maxlength="320" placeholder="shop.example" /></label>
      <div class="buttons">
        <button name="kind" value="block">Block</button>
        <button name="kind" value="allow">Always allow</button>
      </div>
    </form>
    ${
      rules.length === 0
        ? html`<p class="soft">No rules.</p>`
        : html`<ul>
            ${rules.map(ruleLine)}
          </ul>`
    }
  </fieldset>`;
}

function ruleLine(rule: KnownSender) {
  const { id, kind, pattern } = rule;
  return html`<li key=${id}>
    <span class="name">${pattern}</span> <span class="soft">${kind === 'block' ? 'Blocked' : 'Allowed'}</span>
    <button
      type="button"
      class="small"
      aria-label=${kind === 'block' ? `Unblock ${pattern}` : `Remove ${pattern}`}
      onClick=${() => void remove(rule)}
    >
      ${kind === 'block' ? 'Unblock' : 'Remove'}
    </button>
  </li>`;
}

function submitRule(event: SubmitEvent): void {
  event.preventDefault();
  const form = event.target as HTMLFormElement;
  const typed = new FormData(form).get('pattern');
  const kind = (event.submitter as HTMLButtonElement | null)?.value === 'allow' ? 'allow' : 'block';
  void attempt(async () => {
    await addSenderRule(kind, typeof typed === 'string' ? typed : '');
    form.reset();
    showNotice(kind === 'block' ? 'Sender blocked.' : 'Sender allowed.');
  });
}

function remove(rule: KnownSender): Promise<void> {
  return attempt(async () => {
    await removeSenderRule(rule);
    showNotice(rule.kind === 'block' ? 'Sender unblocked.' : 'Rule removed.', async () => {
      await addSenderRule(rule.kind, rule.pattern);
      hideNotice();
    });
  });
}
