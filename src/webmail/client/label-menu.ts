import { useRef, useState } from 'preact/hooks';
import { setKeyword } from './actions.ts';
import { Icon } from './icons.ts';
import { labelName, labelOf, labelsOf } from './label-names.ts';
import { knownLabels, rememberLabel } from './labels.ts';
import type { ThreadMember } from './mail-state.ts';
import { may } from './rights.ts';
import { hrefOf } from './route.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

interface LabelMenuProps {
  /** Emails whose labels are changed. */
  emails: readonly ThreadMember[];
  /** Called with the chosen label, instead of changing the emails. */
  onLabel?: ((label: string, on: boolean) => void) | undefined;
}

/** A menu that adds labels to emails and removes them. Labels are keywords: mail programs show them as tags. */
export function LabelMenu({ emails, onLabel }: LabelMenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [problem, setProblem] = useState('');
  if (!may('maySetKeywords', emails)) return null;
  const present = labelsOf(emails);
  const add = (event: Event): void => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const typed = new FormData(form).get('label');
    const label = labelOf(typeof typed === 'string' ? typed : '');
    setProblem(label === undefined ? t('label.invalid') : '');
    if (label === undefined) return;
    form.reset();
    menu.current?.removeAttribute('open');
    turn(label, true);
  };
  const turn = (label: string, on: boolean): void => {
    // A label that no message has any more would leave the menu under the pointer.
    rememberLabel(label);
    if (onLabel === undefined) void setKeyword(emails, label, on);
    else onLabel(label, on);
  };
  return html`<details class="menu labels" ref=${menu}>
    <summary class="icon-button" title=${t('act.labels')} aria-label=${t('act.labels')}>
      <${Icon} name="label" />
    </summary>
    <div class="menu-body">
      <form onSubmit=${add}>
        <input
          name="label"
          aria-label=${t('label.new')}
          placeholder=${t('label.new')}
          autocomplete="off"
          maxlength="100"
        />
        <button class="small">${t('button.add')}</button>
      </form>
      ${problem !== '' && html`<p class="problem" role="alert">${problem}</p>`}
      ${knownLabels.value.map(
        (label) =>
          html`<label key=${label}>
            <input
              type="checkbox"
              checked=${present.includes(label)}
              onChange=${(event: Event) => turn(label, (event.target as HTMLInputElement).checked)}
            />
            ${labelName(label)}
          </label>`,
      )}
    </div>
  </details>`;
}

/** The labels of emails; each leads to all messages that have it. */
export function LabelChips({ emails, links }: { emails: readonly ThreadMember[]; links: boolean }) {
  return labelsOf(emails).map((label) =>
    links
      ? html`<a class="chip" href=${hrefOf({ folder: 'search', search: `label:${label}`, thread: undefined })}
          >${labelName(label)}</a
        >`
      : html`<span class="chip">${labelName(label)}</span>`,
  );
}
