package insight

import (
	"time"

	"electop/internal/consultest"
)

var t0 = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

var web, must = consultest.Pair, consultest.Must
