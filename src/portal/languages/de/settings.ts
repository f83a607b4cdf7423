import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about the settings of an organization. */
export const settings = {
  'settings.renamed': 'Name gespeichert.',
  'settings.project-created': 'Projekt angelegt.',
  'settings.mail-saved': 'Einstellungen für eingehende E-Mails gespeichert.',
  'settings.slug': 'Kurzname',
  'settings.created': 'Angelegt',
  'settings.claimed': 'Übernommen',
  'settings.unclaimed': 'Nein',
  'settings.organization-name': 'Name der Organisation',
  'settings.save-name': 'Namen speichern',
  'settings-origin.operator': '{time}, mit diesem Server',
  'settings-origin.claim': '{time}, von einem Agenten oder Programm für den Inhaber',
  'settings-origin.own': '{time}, von einem Agenten für sich selbst',

  'settings.mail': 'Eingehende E-Mails',
  'settings.dmarc': 'E-Mails, die die DMARC-Prüfung nicht bestehen',
  'settings-dmarc.follow': 'Der Richtlinie der Domain folgen: ablehnen oder in den Ordner „Spam“ verschieben',
  'settings-dmarc.junk': 'In den Ordner „Spam“ verschieben',
  'settings-dmarc.mark': 'Mit einer Markierung zustellen',
  'settings.rejected': 'Abgelehnte E-Mails',
  'settings.keep-rejected': 'Abgelehnte E-Mails 7 Tage lang im Ordner „Rejects“ aufbewahren',

  'project.title': 'Projekte',
  'project.about':
    'Gruppen von Domains, Postfächern, Schlüsseln und Diensten. Tokens lassen sich auf ein Projekt beschränken.',
  'project.name': 'Name des Projekts',
  'project.create-title': 'Projekt anlegen',
  'project.create': 'Projekt anlegen',

  'deploying.title': 'Bereitstellung',
  'deploying.open': 'Dienste können bereitgestellt werden.',
  'deploying.closed': 'Dienste können noch nicht bereitgestellt werden.',
  'deploying.requirements': 'Voraussetzungen für die Bereitstellung',
  'deploying.requirement': 'Voraussetzung',
  'deploying.next': 'Nächster Schritt',
  'deploying.recommended': 'empfohlen',
  'deploy-requirement.recovery': 'Wiederherstellungsschlüssel',
  'deploy-requirement.billing': 'Zahlungsmethode',
  'deploy-requirement.domain_verified': 'Bestätigte Domain',
  'deploy-status.satisfied': 'Erfüllt',
  'deploy-status.missing': 'Fehlt',
  'deploy-status.not_required': 'Nicht erforderlich',
} satisfies Partial<PortalCatalog>;
