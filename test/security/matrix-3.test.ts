import { testPart } from './matrix.ts'

// Goal: every operation of this part answers every kind of caller with the one right status, and a refusal changes nothing.
testPart(3)
