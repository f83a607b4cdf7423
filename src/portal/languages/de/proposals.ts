import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about proposals of agents. */
export const proposals = {
  'proposal.accepted': 'Vorschlag angenommen und ausgeführt.',
  'proposal.failed': 'Vorschlag angenommen, aber er ist fehlgeschlagen. Sehen Sie sich die Liste unten an.',
  'proposal.refused': 'Vorschlag abgelehnt. Nichts geändert.',
  'proposal.about':
    'Von Agenten mit Regel angefragte Änderungen, die ihre Sitzung überdauern: Weiterleitungen, Webhooks, Schlüssel, Passwörter und ihre eigene Regel. Sie werden nur wirksam, wenn Sie sie annehmen.',
  'proposal.none': 'Keine offenen Vorschläge',
  'proposal.none-text': 'Hier stehen Änderungen, die Ihre Entscheidung brauchen.',
  'proposal.once': 'Wird nur einmal angezeigt. Der Agent kann es nicht sehen.',
  'proposal.executed': 'Vorschlag ausgeführt',
  'proposal.secret': 'Geheimnis',
  'proposal.times': '{time}, verfällt {end}',
  'proposal.accept': 'Annehmen',
  'proposal.accept-question': 'Führt genau diese Änderung mit den Berechtigungen des Tokens des Agenten aus.',
  'proposal.decided': 'Entschiedene Vorschläge',
  'proposal-state.accepted': 'angenommen',
  'proposal-state.refused': 'abgelehnt',
  'proposal-state.replaced': 'ersetzt',
  'proposal-state.expired': 'verfallen',
  'proposal-state.pending': 'offen',
  'proposal.by-progress': '{name}, in Arbeit',
  'proposal.by-failed': '{name}, fehlgeschlagen: {outcome}',
} satisfies Partial<PortalCatalog>;
