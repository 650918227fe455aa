import { testPart } from './matrix.ts'

// Goal: every operation of this part returns the right status for every kind of caller, and a rejection changes nothing.
testPart(4)
