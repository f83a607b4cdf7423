import type { PortalCatalog } from '../../message-types.ts';

/** Messages in German about routes of outgoing mail. */
export const routes = {
  'route.set': 'Route gespeichert. E-Mails in der Warteschlange verwenden sie.',
  'route.removed': 'Route und ihr Passwort gelöscht. E-Mails verwenden die übrigen Routen.',
  'route.about': 'Routen für ausgehende E-Mails. Es gilt die genaueste. Übrige E-Mails: {otherwise}.',
  'route.none': 'Keine Routen',
  'route.none-text': 'Eine Route sendet manche oder alle E-Mails über einen anderen Server (Smarthost).',
  'route.mail': 'E-Mails',
  'route.smarthost': 'Smarthost',
  'route.login': 'Anmeldung',
  'route.no-login': 'Keine',
  'route.rejected': 'Abgelehnt',
  'route.any-certificate': '{encryption}, beliebiges Zertifikat',
  'route-mail.all': 'alle',
  'route-mail.to': 'an {domain}',
  'route-mail.from': 'von {domain}',
  'route-way.always': 'Smarthost',
  'route-way.failover': 'Direkt; über den Smarthost, wenn der Server des Empfängers diesen abweist',
  'route-way.never': 'Nur direkt',
  'route-remove.all':
    'Löscht die Route für alle E-Mails und ihr Passwort. E-Mails in der Warteschlange verwenden die übrigen Routen.',
  'route-remove.to':
    'Löscht die Route für E-Mails an {domain} und ihr Passwort. E-Mails in der Warteschlange verwenden die übrigen Routen.',
  'route-remove.from':
    'Löscht die Route für E-Mails von {domain} und ihr Passwort. E-Mails in der Warteschlange verwenden die übrigen Routen.',

  'route.add-title': 'Route hinzufügen',
  'route.add-about': 'Ersetzt eine bestehende Route für dieselben E-Mails. Ohne Domain gilt sie für alle E-Mails.',
  'route.save': 'Route speichern',
  'route.recipient-domain': 'Domain der Empfänger',
  'route.sender-domain': 'Domain der Absender',
  'route.sender-hint': 'Eine dieser Organisation.',
  'route.smarthost-hint': 'Erforderlich, wenn die Route nicht „Nur direkt“ ist.',
  'route.port': 'Port',
  'route.password-hint': 'Wird nur über TLS gesendet, verschlüsselt gespeichert und nie wieder angezeigt.',
  'route.encryption': 'Verschlüsselung',
  'route.automatic': 'Automatisch: TLS auf 465, sonst STARTTLS',
  'route.implicit': 'Implizites TLS',
  'route.certificate': 'Zertifikat',
  'route.verified': 'Geprüft',
  'route.any': 'Beliebig (nicht geprüft)',
} satisfies Partial<PortalCatalog>;
