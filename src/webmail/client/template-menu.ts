import { useRef } from 'preact/hooks';
import type { Composition } from './compose-state.ts';
import { Icon } from './icons.ts';
import { attempt } from './notices.ts';
import { insertTemplate, loadTemplates, saveTemplate, templates, templateTotal } from './templates.ts';
import { t } from './translate.ts';
import { html } from './view.ts';

interface TemplateMenuProps {
  composed: Composition;
  onEdit: (changed: Partial<Composition>) => void;
}

/** A menu that inserts a template, or saves the message as one. */
export function TemplateMenu({ composed, onEdit }: TemplateMenuProps) {
  const menu = useRef<HTMLDetailsElement>(null);
  const run = (action: () => Promise<void>) => () => {
    menu.current?.removeAttribute('open');
    void attempt(action);
  };
  const onToggle = (event: Event): void => {
    if ((event.currentTarget as HTMLDetailsElement).open) void attempt(loadTemplates);
  };
  const { value: all } = templates;
  const { value: total } = templateTotal;
  return html`<details class="menu templates" ref=${menu} onToggle=${onToggle}>
    <summary class="icon-button" title=${t('compose.templates')} aria-label=${t('compose.templates')}>
      <${Icon} name="template" />
    </summary>
    <div class="menu-body">
      ${all === undefined && html`<p class="soft" role="status">${t('list.loading')}</p>`}
      ${all?.length === 0 && html`<p class="soft">${t('compose.no-templates')}</p>`}
      ${all?.map(
        ({ id, subject }) =>
          html`<button type="button" key=${id} onClick=${run(() => insertTemplate(id, onEdit))}>
            ${subject === '' ? t('list.no-subject') : subject}
          </button>`,
      )}
      ${all !== undefined && all.length < total && html`<p class="soft">${t('compose.more-templates', { count: all.length, total })}</p>`}
      <button type="button" class="save" onClick=${run(() => saveTemplate(composed))}>
        ${t('compose.save-template')}
      </button>
    </div>
  </details>`;
}
