export interface LicensingTables {
  licence_acceptance: {
    org_id: string
    document_id: string
    licence_id: string
    document_sha256: Buffer
    accepted_by: string | null
    accepted_at: Date
    withdrawn_at: Date | null
  }
}
